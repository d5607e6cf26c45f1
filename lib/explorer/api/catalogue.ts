import type { Era, Json, Kind } from './shared.js';

export interface Catalogue {
  readonly servers: readonly CatalogueServer[];
}

export interface CatalogueServer {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  /** Path of the HTTP endpoint. Absent for a server on stdio alone: it can neither be called nor asked as a token. */
  readonly path?: string;
  /** A gateway offers what its backends do, so `handlers` is empty. */
  readonly isGateway: boolean;
  /** Whether `nestjs-mcp/auth` protects it. A pasted token is sent as `Authorization: Bearer` in any case. */
  readonly isProtected: boolean;
  /** The revisions that it serves, the newest first. */
  readonly revisions: readonly string[];
  readonly handlers: readonly CatalogueEntry[];
  /** Sum of the tokens of its tools. */
  readonly tokens: number;
  /** The ends of paths that choose a part of the server, such as a toolset. */
  readonly parts: readonly string[];
  /** The command that starts the official inspector for this server; `{origin}` stands for the origin of the page. */
  readonly inspector?: string;
}

export interface CatalogueEntry {
  readonly kind: Kind;
  /** Name, URI, or URI template: what a request names. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly className: string;
  readonly methodName: string;
  /** The enhancers of the method, in running order. */
  readonly steps: readonly Step[];
  /** Guards of `@Visible`, in the order in which they run. */
  readonly visible: readonly string[];
  /** All of them are needed. */
  readonly scopes: readonly string[];
  /** Whether it can be called without a token; absent without `nestjs-mcp/auth`. */
  readonly anonymous?: boolean;
  /** The entry of the list, as clients of each era get it before interceptors. Absent for a completion or method. */
  readonly definitions?: { readonly modern: Json; readonly legacy: Json };
  /** JSON Schemas of a method that the application declares. */
  readonly params?: Json;
  readonly result?: Json;
  /** The eras whose clients may call a method. Absent: both. */
  readonly eras?: readonly Era[];
  /** The field of a method's params that the `Mcp-Name` header repeats. */
  readonly nameHeader?: string;
  /** Arguments that clients also send as headers (SEP-2243). */
  readonly headers: readonly { readonly header: string; readonly argument: string }[];
  /** How long clients may keep what a resource says, in milliseconds. */
  readonly cache?: { readonly ttlMs: number; readonly scope?: 'public' | 'private' };
  /** Tokens of the definition in a model's context, estimated as characters of its JSON / 4. 0 for all but tools. */
  readonly tokens: number;
}

export interface Step {
  readonly kind: 'guard' | 'interceptor' | 'pipe' | 'filter';
  readonly name: string;
  readonly level: 'global' | 'class' | 'method' | 'parameter';
  /** Index of the parameter on which a pipe runs. */
  readonly parameter?: number;
}
