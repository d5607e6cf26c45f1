import type { ServerResponse } from 'node:http';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { HttpExchange, McpCall, Params } from './mcp-call.js';
import type { ItemKind } from './methods.js';

/** What a caller needs for a handler, according to its decorators. */
export interface Requirement {
  /** The caller's token needs all of these scopes. */
  readonly scopes: readonly string[];
  /** Whether a call needs no token. Undefined: the server's default applies. */
  readonly anonymous: boolean | undefined;
}

/** A caller whose token has no scopes. Of all callers with a token, it sees the fewest handlers. */
export const WITHOUT_SCOPES: AuthInfo = { token: '', clientId: '', scopes: [] };

/** Decides by the caller's token who may use a handler, and who sees it. */
export interface Permissions {
  /** Which handlers lists show: what the caller may use, in addition what it can get by a login, or everything. */
  readonly lists: 'reachable' | 'allowed' | 'all';
  /** Whether handlers without a requirement need no token. */
  readonly anonymous: boolean;
  /** Whether a caller may use a handler. */
  allows(requirement: Requirement | undefined, caller: AuthInfo | undefined): boolean;
  /** Whether lists show a handler to a caller. More scopes never hide a handler. */
  shows(requirement: Requirement | undefined, caller: AuthInfo | undefined): boolean;
}

/** Whether a caller without a token may use any handler. @param requirements of all handlers */
export function servesAnonymous(
  permissions: Permissions,
  requirements: readonly (Requirement | undefined)[],
): boolean {
  if (requirements.length === 0) return permissions.anonymous;
  return requirements.some(requirement => permissions.allows(requirement, undefined));
}

/** A request, as far as it names a handler. */
export interface NamedRequest {
  readonly method: string;
  readonly params?: Params;
}

/** What the handlers of a server require of their callers. */
export interface Requirements {
  /**
   * The requirements of the handlers that a request names, as far as the caller sees them. Returns a promise only if
   * guards must run.
   * @param call undefined for a caller that nobody knows: handlers with `@Visible` are hidden from it
   */
  needs(
    request: NamedRequest,
    call: McpCall | undefined,
  ): readonly (Requirement | undefined)[] | Promise<readonly (Requirement | undefined)[]>;
  /** The requirements of all handlers, and where each is written. */
  requirements(): readonly { readonly where: string; readonly requirement?: Requirement }[];
  /** The requirement of an item of a list that shows all items to everybody. */
  readonly requirementOf?: (kind: ItemKind, name: string) => Requirement | undefined;
}

/** An HTTP request that asks for admission. */
export interface Visit {
  readonly http: HttpExchange;
  /** Node's response. */
  readonly response: ServerResponse;
  readonly requests: readonly NamedRequest[];
  /** Whether the request opens a stream for as long as its client listens. */
  readonly isListening: boolean;
}

/** Decides about HTTP requests before they are served. */
export interface Admission {
  /**
   * The caller of a request; undefined for an anonymous caller.
   * @throws AuthChallenge or LimitReached if it is refused
   */
  admit(visit: Visit): AuthInfo | undefined | Promise<AuthInfo | undefined>;
  /**
   * Decides on requests together, before any of them is answered.
   * @param call that they are part of
   * @throws AuthChallenge if the caller may not make one of them
   */
  admitAll(requests: readonly NamedRequest[], call: McpCall): Promise<void>;
}
