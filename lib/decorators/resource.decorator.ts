import { declareHandler } from './handler-metadata.js';
import type { ResourceOptions } from './handler-options.js';

/**
 * Makes a provider's method an MCP resource with a fixed URI. It may return a string, bytes, a
 * `StreamableFile`, an object (sent as JSON), a list of contents or a `ReadResourceResult`.
 *
 * Specification: server/resources.
 */
export const Resource = (options: ResourceOptions): MethodDecorator =>
  declareHandler({ kind: 'resource', options });
