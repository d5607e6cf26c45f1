import type { CacheHint, Icon, ToolAnnotations, Annotations } from '@modelcontextprotocol/server';
import type { SchemaLike } from '../schema/types.js';

export interface HandlerOptions {
  /** Name on the wire. Default: the method's name. */
  name?: string;
  /** Name for display. */
  title?: string;
  /** Description for the model and for people. */
  description?: string;
  /** Icons that a client may show. */
  icons?: Icon[];
  /** `_meta` of the definition. */
  _meta?: Record<string, unknown>;
  /** Name of the server. Default: the servers of `forFeature`, else the first imported server. */
  server?: string;
}

/** Options of `@Tool`. Specification: server/tools. */
export interface ToolOptions extends HandlerOptions {
  /** Hints on behaviour (`readOnlyHint`, `destructiveHint`, …). */
  annotations?: ToolAnnotations;
  /**
   * Schema of the arguments. Default: the class of the `@Args()` parameter, or one property for each named `@Args`.
   * Arguments without a schema stop the bootstrap; `{ type: 'object' }` accepts all.
   */
  inputSchema?: SchemaLike;
  /**
   * Schema of the structured result, checked before it is sent. `true` on a route takes the class of `@ApiOkResponse()`
   * or `@ApiCreatedResponse()`.
   */
  outputSchema?: SchemaLike | true;
  /**
   * On a route: other names for its parameters. The key is the name of a path, query or body parameter; `query.id` and
   * `body.id` select one of several.
   */
  params?: Readonly<Record<string, string>>;
  /** On a route: names of the headers of the MCP request that `@Headers('name')` may read. Default: none. */
  headers?: readonly string[];
  /** On a route: allows `@Req()`, which passes a view of the MCP request. Default: false. */
  request?: boolean;
  /**
   * On a route: whether the middleware of the route runs before its guards. False if the route is safe without it.
   * Default: true.
   */
  middleware?: boolean;
  /**
   * On a route with guards, middleware, Nest interceptors, filters or custom parameter decorators: allows the tool over
   * stdio, where they see no HTTP request. Default: false.
   */
  stdio?: boolean;
}

/** Options of `@Prompt`. Specification: server/prompts. */
export interface PromptOptions extends HandlerOptions {
  /**
   * Schema of the arguments, which are strings: a DTO's numbers and booleans are converted, another schema must
   * accept strings (`z.coerce.number()`). Default: as for `@Tool`.
   */
  argsSchema?: SchemaLike;
}

interface ResourceBase extends HandlerOptions {
  /** MIME type of the contents. Default: `text/plain` for text, `application/json` for objects. */
  mimeType?: string;
  /** Audience, priority and time of the last change. */
  annotations?: Annotations;
  /** Cache lifetime and scope of a read (2026-07-28). Default: the server's `cache['resources/read']`. */
  cache?: CacheHint;
}

/** Options of `@Resource`. Specification: server/resources. */
export interface ResourceOptions extends ResourceBase {
  /** Absolute URI, such as `config://app`. */
  uri: string;
  /** Size in bytes, if it is known. */
  size?: number;
}

/** Options of `@ResourceTemplate`. Specification: server/resources, RFC 6570. */
export interface ResourceTemplateOptions extends ResourceBase {
  /** RFC 6570 template with a literal scheme, such as `users://{id}/profile`. */
  uriTemplate: string;
  /** Schema of the variables. Default: the class of the `@UriParams()` parameter. */
  uriParamsSchema?: SchemaLike;
}

/** Options of `@Completion`. Specification: server/utilities/completion. */
export interface CompletionOptions {
  /** Name of the prompt to complete. Give either `prompt` or `resourceTemplate`. */
  prompt?: string;
  /** URI template to complete. Give either `prompt` or `resourceTemplate`. */
  resourceTemplate?: string;
  /** Name of the argument or variable. */
  argument: string;
  /** Name of the server. Default: as for other handlers. */
  server?: string;
}

export interface HandlerOptionsByKind {
  tool: ToolOptions;
  prompt: PromptOptions;
  resource: ResourceOptions;
  'resource template': ResourceTemplateOptions;
  completion: CompletionOptions;
}

export type HandlerKind = keyof HandlerOptionsByKind;

export type HandlerMetadata = {
  [K in HandlerKind]: { readonly kind: K; readonly options: HandlerOptionsByKind[K] };
}[HandlerKind];
