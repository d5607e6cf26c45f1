// eslint-disable-next-line no-restricted-imports -- The build bundles it for browsers: see tools/build-page.mjs.
export { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge';
