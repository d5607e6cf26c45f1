import { declareHandler } from './handler-metadata.js';
import type { ResourceTemplateOptions } from './handler-options.js';

/**
 * Makes a provider's method a family of MCP resources, addressed by an RFC 6570 URI template. `@UriParams()`
 * gives the decoded variables; a decoded value never leaves its segment (`..`, an encoded `/`) – such a URI does
 * not match. Returns what a `@Resource` returns.
 *
 * Specification: server/resources, resource templates.
 */
export const ResourceTemplate = (options: ResourceTemplateOptions): MethodDecorator =>
  declareHandler({ kind: 'resource template', options });
