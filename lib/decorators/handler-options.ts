import type { CacheHint, Icon, ToolAnnotations, Annotations } from '@modelcontextprotocol/server';
import type { SchemaLike } from '../schema/types.js';

/** What every kind of handler can declare. */
export interface HandlerOptions {
  /** Name on the wire. Default: the method's name. */
  name?: string;
  /** Name for people. */
  title?: string;
  /** What it does, for the model and for people. */
  description?: string;
  /** Icons that a client may show. */
  icons?: Icon[];
  /** Metadata passed through to the client (`_meta`). */
  _meta?: Record<string, unknown>;
  /** The server it belongs to, by `name`. Default: those that `forFeature` gave its class to, else the first one imported. */
  server?: string;
}

/** Options of `@Tool`. Specification: server/tools. */
export interface ToolOptions extends HandlerOptions {
  /** Hints on behaviour (`readOnlyHint`, `destructiveHint`, …). */
  annotations?: ToolAnnotations;
  /**
   * Schema of the arguments: a class-validator DTO, a Standard Schema or raw JSON Schema.
   * Default: the class that the `@Args()` parameter is, or one property for each named `@Args`; no arguments for a method
   * without parameters. A method whose arguments have no schema stops the bootstrap; `{ type: 'object' }` takes anything.
   */
  inputSchema?: SchemaLike;
  /** Schema of the structured result. The value is checked before it leaves. */
  outputSchema?: SchemaLike;
}

/** Options of `@Prompt`. Specification: server/prompts. */
export interface PromptOptions extends HandlerOptions {
  /**
   * Schema of the arguments, which are strings on the wire: a DTO's numbers and booleans are converted, another schema has
   * to take strings (`z.coerce.number()`), or it stops the bootstrap. Default: as for `@Tool`.
   */
  argsSchema?: SchemaLike;
}

interface ResourceBase extends HandlerOptions {
  /** MIME type of the contents. Default: `text/plain` for text, `application/json` for objects. */
  mimeType?: string;
  /** Audience, priority and time of the last change. */
  annotations?: Annotations;
  /** How long, and by whom, a read may be cached (2026-07-28). Default: the server's `cache['resources/read']`. */
  cache?: CacheHint;
}

/** Options of `@Resource`. Specification: server/resources. */
export interface ResourceOptions extends ResourceBase {
  /** Absolute URI, such as `config://app`. */
  uri: string;
  /** Size in bytes, if known. */
  size?: number;
}

/** Options of `@ResourceTemplate`. Specification: server/resources, RFC 6570. */
export interface ResourceTemplateOptions extends ResourceBase {
  /** RFC 6570 template with a literal scheme, such as `users://{id}/profile`. */
  uriTemplate: string;
  /** Schema of the variables. Default: the type of the `@UriParams()` parameter where that is a class. */
  uriParamsSchema?: SchemaLike;
}

/** Options of `@Completion`. Specification: server/utilities/completion. */
export interface CompletionOptions {
  /** Name of the prompt whose argument is completed; or `resourceTemplate`. */
  prompt?: string;
  /** URI template whose variable is completed; or `prompt`. */
  resourceTemplate?: string;
  /** Name of the argument or variable. */
  argument: string;
  /** As for the other handlers. */
  server?: string;
}

export interface HandlerOptionsByKind {
  tool: ToolOptions;
  prompt: PromptOptions;
  resource: ResourceOptions;
  'resource template': ResourceTemplateOptions;
  completion: CompletionOptions;
}

/** What a handler is: a tool, a prompt, a resource, … */
export type HandlerKind = keyof HandlerOptionsByKind;

/** One declaration, as the decorators store it. */
export type HandlerMetadata = {
  [K in HandlerKind]: { readonly kind: K; readonly options: HandlerOptionsByKind[K] };
}[HandlerKind];
