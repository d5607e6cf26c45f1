import { SetMetadata } from '@nestjs/common';
import { HANDLER_METADATA, NO_TOOL_METADATA, declareOnMethod } from './metadata.js';
import type {
  CompletionOptions,
  HandlerMetadata,
  PromptOptions,
  ResourceOptions,
  ResourceTemplateOptions,
  ToolOptions,
} from './handler-options.js';

const declareHandler = (metadata: HandlerMetadata): MethodDecorator =>
  declareOnMethod(HANDLER_METADATA, metadata, 'an MCP handler');

/**
 * Makes a provider's method a tool (specification: server/tools). The method returns text, structured content for an
 * `outputSchema`, content blocks or a `CallToolResult`. It may return a Promise, an Observable or an async iterable;
 * earlier values are sent as progress. On a route of a controller, its path, query and body parameters become the
 * arguments. `@Tool(false)` keeps a route out of the `routes` of `McpModule`.
 * @example
 * ```ts
 * @Tool({ description: 'Search the catalogue' })
 * search(@Args() { query, limit }: SearchDto) {
 *   return this.products.find(query, limit);
 * }
 * ```
 */
export const Tool = (options: ToolOptions | false = {}): MethodDecorator =>
  options === false ? SetMetadata(NO_TOOL_METADATA, true) : declareHandler({ kind: 'tool', options });

/**
 * Makes a provider's method a prompt (specification: server/prompts). The method returns a string (one user message), a
 * list of messages or a `GetPromptResult`.
 * @example
 * ```ts
 * @Prompt({ description: 'Reviews code' })
 * review(@Args('code') code: string) {
 *   return `Write a review of this code:\n${code}`;
 * }
 * ```
 */
export const Prompt = (options: PromptOptions = {}): MethodDecorator =>
  declareHandler({ kind: 'prompt', options });

/**
 * Makes a provider's method a resource with a fixed URI (specification: server/resources). The method returns a string,
 * bytes, a `StreamableFile`, an object (sent as JSON), a list of contents or a `ReadResourceResult`.
 * @example
 * ```ts
 * @Resource({ uri: 'config://app', mimeType: 'application/json' })
 * config() {
 *   return { debug: false };
 * }
 * ```
 */
export const Resource = (options: ResourceOptions): MethodDecorator =>
  declareHandler({ kind: 'resource', options });

/**
 * Makes a provider's method serve all resources that match an RFC 6570 template (specification: server/resources).
 * `@UriParams()` passes the decoded variables. A URI with `..` or an encoded `/` in a variable does not match. The
 * method returns the same types as with `@Resource`.
 * @example
 * ```ts
 * @ResourceTemplate({ uriTemplate: 'users://{id}', mimeType: 'application/json' })
 * user(@UriParams('id') id: string) {
 *   return this.users.find(id); // undefined: the resource does not exist
 * }
 * ```
 */
export const ResourceTemplate = (options: ResourceTemplateOptions): MethodDecorator =>
  declareHandler({ kind: 'resource template', options });

/**
 * Makes a provider's method complete an argument of a prompt or a variable of a resource template (specification:
 * server/utilities/completion). The method receives the text and the other arguments, and returns up to 100 strings.
 * Enumerations are completed without it. The guards of the prompt or template run first.
 * @example
 * ```ts
 * @Completion({ prompt: 'welcome', argument: 'language' })
 * languages(typed: string) {
 *   return ['English', 'French'].filter(language => language.startsWith(typed));
 * }
 * ```
 */
export const Completion = (options: CompletionOptions): MethodDecorator =>
  declareHandler({ kind: 'completion', options });
