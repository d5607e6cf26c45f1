import { HANDLER_METADATA } from './metadata.js';
import type {
  CompletionOptions,
  HandlerMetadata,
  PromptOptions,
  ResourceOptions,
  ResourceTemplateOptions,
  ToolOptions,
} from './handler-options.js';
import { declareOnMethod } from './method-metadata.js';

const declareHandler = (metadata: HandlerMetadata): MethodDecorator =>
  declareOnMethod(HANDLER_METADATA, metadata, 'an MCP handler');

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

/**
 * Makes a provider's method an MCP prompt. It may return a string (one user message), a list of messages
 * or a `GetPromptResult`.
 *
 * Specification: server/prompts.
 */
export const Prompt = (options: PromptOptions = {}): MethodDecorator =>
  declareHandler({ kind: 'prompt', options });

/**
 * Makes a provider's method an MCP resource with a fixed URI. It may return a string, bytes, a
 * `StreamableFile`, an object (sent as JSON), a list of contents or a `ReadResourceResult`.
 *
 * Specification: server/resources.
 */
export const Resource = (options: ResourceOptions): MethodDecorator =>
  declareHandler({ kind: 'resource', options });

/**
 * Makes a provider's method a family of MCP resources, addressed by an RFC 6570 URI template. `@UriParams()`
 * gives the decoded variables; a decoded value never leaves its segment (`..`, an encoded `/`) – such a URI does
 * not match. Returns what a `@Resource` returns.
 *
 * Specification: server/resources, resource templates.
 */
export const ResourceTemplate = (options: ResourceTemplateOptions): MethodDecorator =>
  declareHandler({ kind: 'resource template', options });

/**
 * Makes a provider's method complete one argument of a prompt or one variable of a resource template.
 * It is called with the text so far and the arguments chosen already, and returns strings; at most 100 are sent.
 * Arguments whose schema is an enumeration are completed without it. The guards of the prompt or resource template decide
 * first, then the method's own.
 *
 * Specification: server/utilities/completion.
 */
export const Completion = (options: CompletionOptions): MethodDecorator =>
  declareHandler({ kind: 'completion', options });
