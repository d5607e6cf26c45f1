import { Logger } from '@nestjs/common';
import type { AuthInfo, Result } from '@modelcontextprotocol/server';
import type { AuthChallenge } from '../exceptions/auth-challenge.js';
import type { Stage } from '../protocol/answer.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { listenedUris } from '../protocol/params.js';
import {
  INTERCEPTOR_METHODS,
  isList,
  listOf,
  METHODS,
  rowsOf,
  type ListMethod,
} from '../protocol/methods.js';
import {
  servesAnonymous,
  WITHOUT_SCOPES,
  type Admission,
  type NamedRequest,
  type Requirement,
  type Requirements,
  type Visit,
} from '../protocol/permissions.js';
import type { ExtendedServer, ServerExtension, Stages } from '../protocol/server-extension.js';
import type { TokenAuthorizer } from './token-authorizer.js';

type Needs = readonly (Requirement | undefined)[];

/** The extension that makes a server an OAuth resource server: who is admitted, and who may use which handler. */
export class Authorization implements ServerExtension, Admission {
  readonly admission = this;
  private server!: ExtendedServer;
  private decided?: { readonly of: object; readonly isAnonymous: boolean };

  constructor(readonly permissions: TokenAuthorizer) {}

  attach(server: ExtendedServer): void {
    this.server = server;
    this.permissions.attach();
    this.warnUnreachable();
  }

  startLines(): readonly string[] {
    const issuers = this.permissions.authorizationServers.join(', ');
    return [`Callers ${this.servesAnonymous ? 'may' : 'must'} log in at ${issuers}`];
  }

  stages(method: string): Stages | undefined {
    if (isList(method)) return { admit: this.listed };
    if (method === 'subscriptions/listen') return { admit: this.listening, check: this.listening };
    const { names, onlyEnds } = METHODS.get(method) ?? {};
    const isNaming =
      (names && !onlyEnds) || this.server.isOwn(method) || INTERCEPTOR_METHODS.includes(method);
    return isNaming ? { admit: this.checked, check: this.checked } : undefined;
  }

  async admit({ http, response, requests, isListening }: Visit): Promise<AuthInfo | undefined> {
    const { permissions } = this;
    const { limit } = this.server.running;
    const known = permissions.authenticate(http, limit);
    const caller = known instanceof Promise ? await known : known;
    if (!caller) {
      if (!this.servesAnonymous) throw await this.unauthorized(requests, http);
      return undefined;
    }
    if (isListening) {
      // Clock tolerance is for calls: a stream would end at once, and its client would come back.
      if (leftOf(caller) <= 0) throw permissions.refuse(401, http);
      this.endWithToken(http, caller, response);
    }
    return caller;
  }

  async admitAll(requests: readonly NamedRequest[], call: McpCall): Promise<void> {
    const { authInfo, http } = call;
    if (!http) return;
    const needed: (Requirement | undefined)[] = [];
    for (const request of requests) needed.push(...(await this.server.needs(request, call)));
    // A challenge names the scopes of all, so that the client logs in once.
    if (!this.allowsAll(needed, authInfo)) throw this.permissions.refusal(scopesOf(needed), authInfo, http);
  }

  /** Decided once for the handlers, because callers can ask often. */
  private get servesAnonymous(): boolean {
    const of = this.server.requirements();
    if (this.decided?.of !== of) {
      const all = of.map(({ requirement }) => requirement);
      this.decided = { of, isAnonymous: servesAnonymous(this.permissions, all) };
    }
    return this.decided.isAnonymous;
  }

  /** Refuses a forbidden call. A call of a hidden handler continues, and fails as unknown. */
  private readonly checked: Stage = next => (call, params) => {
    // Over stdio there are no tokens: the process that starts the server is trusted.
    if (!call.http) return next(call, params);
    const needs = this.server.needs({ method: call.method, params }, call);
    if (!(needs instanceof Promise)) {
      this.assertAllowed(needs, call);
      return next(call, params);
    }
    return needs.then(all => {
      this.assertAllowed(all, call);
      return next(call, params);
    });
  };

  /** Refuses a stream with a resource that the caller may not read. */
  private readonly listening: Stage = next => async (call, params) => {
    const requests = listenedUris(params).map(uri => ({ method: 'resources/subscribe', params: { uri } }));
    await this.admitAll(requests, call);
    return next(call, params);
  };

  /** The catalogue lists only handlers that the caller may see, but a gateway lists all items of its backends. */
  private readonly listed: Stage = next => {
    const { handlers } = this.server;
    if (!handlers.requirementOf) return next;
    return async (call: McpCall, params: Params): Promise<Result> => {
      const page = await next(call, params);
      return call.http ? this.rowsShown(page, call, handlers.requirementOf!) : page;
    };
  };

  /** Removes the items that the caller does not see from a page of a list that shows all items to everybody. */
  private rowsShown(
    page: Result,
    { authInfo, era, method }: McpCall,
    requirementOf: NonNullable<Requirements['requirementOf']>,
  ): Result {
    const { kind, lists, key } = listOf(method as ListMethod);
    const all = rowsOf(method as ListMethod, page);
    const shownTo = (caller: AuthInfo | undefined) =>
      all.filter(row => this.permissions.shows(requirementOf(kind, String(row[key])), caller));
    const isForAll = (caller: AuthInfo | undefined) => shownTo(caller).length === all.length;
    if (isForAll(WITHOUT_SCOPES) && (!this.servesAnonymous || isForAll(undefined))) return page;
    return { ...page, [lists]: shownTo(authInfo), ...(era === 'modern' && { cacheScope: 'private' }) };
  }

  /**
   * Ends a stream when the token of its client expires or is refused: a client that only listens sends its token once. While
   * the token cannot be verified, the stream continues.
   */
  private endWithToken(http: Visit['http'], caller: AuthInfo, response: Visit['response']): void {
    const { permissions } = this;
    let timer: NodeJS.Timeout | undefined;
    const watch = (known: AuthInfo) => {
      const leftMs = leftOf(known);
      if (leftMs <= 0) return void response.destroy();
      timer = setTimeout(() => void check(known), Math.min(leftMs, permissions.recheckMs)).unref();
    };
    const check = async (known: AuthInfo) => {
      const verified = await permissions.verifyAgain(http).catch(() => known);
      if (response.closed) return;
      if (verified) watch(verified);
      else response.destroy();
    };
    watch(caller);
    response.once('close', () => clearTimeout(timer));
  }

  /** Warns about handlers, and rules of a gateway's tools, with scopes that no login asks for. */
  private warnUnreachable(): void {
    const { permissions, server } = this;
    if (permissions.lists !== 'reachable') return;
    const hidden = server.requirements().flatMap(({ where, requirement }) => {
      const beyond = (requirement?.scopes ?? []).filter(
        scope => !permissions.shows({ scopes: [scope], anonymous: false }, undefined),
      );
      return beyond.length > 0 ? [`${where} (${beyond.join(' ')})`] : [];
    });
    if (hidden.length === 0) return;
    new Logger(`McpModule(${permissions.server.options.name})`).warn(
      `No client can log in for handlers with scopes that "scopesSupported" of McpAuthModule does not name: ${hidden.join(', ')}; ` +
        'add the scopes, or set "lists" to "allowed" if clients get them in another way',
    );
  }

  private assertAllowed(needs: Needs, { authInfo, http }: McpCall): void {
    if (!this.allowsAll(needs, authInfo)) throw this.permissions.refusal(scopesOf(needs), authInfo, http!);
  }

  private allowsAll(needs: Needs, caller: AuthInfo | undefined): boolean {
    return needs.every(requirement => this.permissions.allows(requirement, caller));
  }

  /** The refusal of a request without a token. Scopes that `@Visible` hides stay unknown. */
  private async unauthorized(requests: readonly NamedRequest[], http: Visit['http']): Promise<AuthChallenge> {
    const needs = await Promise.all(requests.map(async request => this.server.needs(request, undefined)));
    return this.permissions.refusal(scopesOf(needs.flat()), undefined, http);
  }
}

/** How long a token is good for, in milliseconds. */
const leftOf = ({ expiresAt = Infinity }: AuthInfo): number => expiresAt * 1000 - Date.now();

const scopesOf = (needs: Needs): string[] => [...new Set(needs.flatMap(one => one?.scopes ?? []))];
