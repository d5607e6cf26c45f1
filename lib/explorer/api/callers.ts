import type { Json, Kind } from './shared.js';

/** Synthetic callers see lists and call nothing. A pasted token is used for the one request and not kept. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'synthetic'; readonly scopes: readonly string[]; readonly roles: readonly string[] };

export interface CallerViewRequest {
  readonly server: string;
  readonly caller: Caller;
  /** One of the server's `revisions`. Default: the newest. */
  readonly revision?: string;
}

export interface CallerView {
  /** Absent if the server refuses the caller. */
  readonly caller?: {
    /** The subject, user or client, or `anonymous`. Absent for a synthetic caller. */
    readonly name?: string;
    readonly scopes: readonly string[];
    readonly roles: readonly string[];
  };
  /** Why the caller gets no lists at all, such as an expired token. */
  readonly refused?: string;
  readonly lists: readonly CallerList[];
}

export interface CallerList {
  /** `extension methods` are listed by the explorer, as no request lists them. */
  readonly method:
    'tools/list' | 'prompts/list' | 'resources/list' | 'resources/templates/list' | 'extension methods';
  /** The entries as this caller gets them, after interceptors. */
  readonly entries: readonly Json[];
  /** What a model pays for each entry, as an estimate. Only for tools. */
  readonly tokens?: readonly number[];
  /** Empty for a list that is cut. */
  readonly missing: readonly MissingEntry[];
  /** True for a list with more pages than the explorer reads. */
  readonly isCut?: boolean;
  /** Why the caller does not get this list, if an interceptor refuses it. */
  readonly refused?: string;
}

export interface MissingEntry {
  readonly kind: Kind;
  readonly name: string;
  readonly by: 'guard' | 'scope' | 'interceptor' | 'token' | 'part';
  /** Name of the guard or interceptor, or the scopes that the caller lacks. */
  readonly names: readonly string[];
  /** A sentence, such as `@Visible(RolesGuard) hides it`. */
  readonly why: string;
}
