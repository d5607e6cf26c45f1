import { declareHandler } from './handler-metadata.js';
import type { ToolOptions } from './handler-options.js';

/**
 * Makes a provider's method an MCP tool.
 *
 * The method may return a plain value (text, or structured content where `outputSchema` is given), content blocks,
 * a `CallToolResult`, a Promise, an Observable or an async iterable of one; the earlier values of the last two are sent as
 * progress.
 *
 * Specification: server/tools.
 */
export const Tool = (options: ToolOptions = {}): MethodDecorator => declareHandler({ kind: 'tool', options });
