import type { Client } from '@modelcontextprotocol/client';
import { check, connect, drive, REVISIONS, startSample, textOf } from '../support/drive.js';

const VIEWS = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };

const call = async (client: Client, name: string, args: Record<string, unknown> = {}) =>
  await client.callTool({ name, arguments: args });

drive(async () => {
  const sample = await startSample('64-apps');
  for (const revision of REVISIONS) {
    console.log(revision);
    const plain = await connect(sample.url, revision);
    const { tools } = await plain.listTools();
    const [show, finish] = ['show', 'finish'].map(
      name => tools.find(tool => tool.name === name)?._meta?.['ui'],
    );
    check('the tool names its view', show, { resourceUri: 'ui://orders/board' });
    check('a tool of the view alone', finish, { resourceUri: 'ui://orders/board', visibility: ['app'] });
    const { contents } = await plain.readResource({ uri: 'ui://orders/board' });
    check('the view is HTML', contents[0].mimeType, 'text/html;profile=mcp-app');
    check('a client without views gets a text', textOf(await call(plain, 'show')), /^Open: /);

    const host = await connect(sample.url, revision, { extensions: VIEWS });
    check('a host gets a short one', textOf(await call(host, 'show')), /open orders$/);
    const { structuredContent } = await call(host, 'finish', { order: 'tea' });
    check('what the view calls', structuredContent, { open: ['coffee'], done: ['tea'] });
    await Promise.all([plain.close(), host.close()]);
  }
  await sample.stop();
});
