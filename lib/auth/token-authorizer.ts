import { Logger } from '@nestjs/common';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { AuthChallenge } from '../exceptions/auth-challenge.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { frozenConfig } from '../interceptors/chain/frozen.js';
import type { CallerLimit } from '../protocol/caller-limit.js';
import type { HttpExchange } from '../protocol/mcp-call.js';
import type { Permissions, Requirement } from '../protocol/permissions.js';
import type { Views } from '../protocol/server-extension.js';
import type { ServerDraft } from '../module/server-draft.js';
import { unlessAborted } from '../util/abort.js';
import { defined } from '../util/defined.js';
import { messageOf } from '../util/message-of.js';
import { canonical, type AuthSettings } from './auth-options.js';
import { bearerToken } from './bearer-token.js';
import { challenge, tooManyRefused, unavailable } from './challenge.js';
import { RefusalLog, RefusedClaimError } from './refused-claim.js';
import { RefusedTokens } from './refused-tokens.js';
import { metadataUrlOf, otherPortOf, resourceAt, targetOf, urlOf } from './resource-urls.js';
import { impliedBy, type Scopes } from './scope.js';
import { TokenCache } from './token-cache.js';
import { InvalidTokenError, isInvalidToken } from './token-verifier.js';

const logger = new Logger('McpAuthModule');

/** How often the token of a stream is verified again without a cache, in milliseconds. */
const UNCACHED_RECHECK_MS = 1000;

/** How long a verification may take if calls have no deadline, in milliseconds. */
const VERIFICATION_MS = 60_000;

/** Decides about the calls of one server by their tokens. */
export class TokenAuthorizer implements Permissions {
  readonly lists: AuthSettings['lists'];
  /** Issuers from which callers may get tokens. */
  readonly authorizationServers: readonly string[];
  readonly anonymous: boolean;
  /** How often the token of a stream is verified again, in milliseconds. */
  readonly recheckMs: number;
  private readonly cache: TokenCache;
  private readonly refused: RefusedTokens;
  private readonly refusalLog = new RefusalLog();
  /** The scopes of callers. A caller is the same object while its token is cached. */
  private readonly granted = new WeakMap<AuthInfo, Scopes>();
  private readonly implied: (scopes: readonly string[]) => Scopes;
  /** The scopes that a caller can get by a login. Undefined: any scope. */
  private readonly reachable?: Scopes;
  /** The parts of the server that have URLs of their own. */
  private views?: Views;
  private isFailing = false;
  private hasWarnedOfPort = false;

  constructor(
    readonly settings: AuthSettings,
    readonly server: Pick<ServerDraft, 'options' | 'paths' | 'extensions'>,
  ) {
    if (settings.resource === undefined && server.options.http) {
      const { http, name } = server.options;
      if (http.allowedHosts === '*') throw anyAudience(name);
      if (process.env['NODE_ENV'] === 'production') logger.warn(guessedAudience(name));
    }
    this.lists = settings.lists;
    this.authorizationServers = settings.authorizationServers;
    this.anonymous = settings.anonymous;
    this.recheckMs = settings.tokenCacheMs || UNCACHED_RECHECK_MS;
    const { verifier, tokenCacheMs, maxCachedTokens } = settings;
    this.cache = new TokenCache(verifier.cacheable === false ? 0 : tokenCacheMs, maxCachedTokens);
    this.refused = new RefusedTokens(settings.maxRefusedPerAddress);
    this.implied = impliedBy(settings.impliedScopes);
    this.reachable = settings.scopesSupported && this.implied(settings.scopesSupported);
  }

  /**
   * The caller of a request; undefined without a token.
   * @param limit of calls, among which a verification counts
   * @throws AuthChallenge for a token that is not good here, or cannot be verified now; LimitReached if too many are verified
   */
  authenticate(
    bearer: HttpExchange,
    limit: CallerLimit,
  ): AuthInfo | undefined | Promise<AuthInfo | undefined> {
    const sent = bearerToken(bearer);
    if (sent === 'none') return this.anonymousIn(bearer);
    if (sent === 'repeated') throw this.refuse(400, bearer);
    if (sent === 'malformed') {
      throw this.failure(new InvalidTokenError('the Authorization header is malformed or too long'), bearer);
    }
    const key = this.keyOf(sent.token, bearer);
    const caller = this.cache.get(key);
    return caller ? identify(bearer.request, caller) : this.identified(sent.token, key, bearer, limit);
  }

  /**
   * Verifies the token of a stream again, and counts it in no limit. Undefined for a token that is refused.
   * @throws Error if it cannot be verified now
   */
  async verifyAgain(bearer: HttpExchange): Promise<AuthInfo | undefined> {
    const { token } = bearerToken(bearer) as { token: string };
    const key = this.keyOf(token, bearer);
    if (this.cache.refusal(key)) return undefined;
    try {
      return this.cache.get(key) ?? (await this.cache.verify(key, () => this.verify(token, bearer)));
    } catch (error) {
      if (isInvalidToken(error)) return undefined;
      throw error;
    }
  }

  allows(requirement: Requirement | undefined, caller: AuthInfo | undefined): boolean {
    if (!caller) return requirement?.anonymous ?? this.anonymous;
    if (!requirement || requirement.scopes.length === 0) return true;
    const granted = this.grantedTo(caller);
    return requirement.scopes.every(scope => granted.has(scope));
  }

  shows(requirement: Requirement | undefined, caller: AuthInfo | undefined): boolean {
    if (this.lists === 'all' || this.allows(requirement, caller)) return true;
    if (this.lists === 'allowed') return false;
    const { reachable } = this;
    const granted = caller && this.grantedTo(caller);
    // A step-up adds scopes to those that the caller has.
    const isOpen = (scope: string) => reachable!.has(scope) || granted?.has(scope);
    return !reachable || !requirement || requirement.scopes.every(isOpen);
  }

  /** Creates the refusal for a caller that may not use a handler. */
  refusal(scopes: readonly string[], caller: AuthInfo | undefined, bearer: HttpExchange): AuthChallenge {
    const metadataUrl = this.metadataUrl(bearer.request);
    if (caller) return challenge(403, { error: 'insufficient_scope', scope: scopes, metadataUrl });
    const scope = scopes.length > 0 ? scopes : this.settings.scopesSupported;
    return challenge(401, { scope, metadataUrl });
  }

  /**
   * The metadata of the server (RFC 9728, 2). Undefined for a request from which the resource cannot be guessed.
   * @param path of the endpoint; empty at the root place
   */
  metadata(request: object, path: string): object | undefined {
    const { settings } = this;
    const { authorizationServers, scopesSupported, resourceName, resourceDocumentation } = settings;
    const resource =
      this.declared(path) ?? this.guessed(request, path === '' ? (this.server.paths[0] ?? '') : path);
    if (resource === undefined) return undefined;
    return {
      resource,
      authorization_servers: authorizationServers,
      bearer_methods_supported: ['header'],
      ...defined({
        scopes_supported: scopesSupported,
        resource_name: resourceName,
        resource_documentation: resourceDocumentation,
      }),
    };
  }

  /**
   * The key of a verdict in the cache: it holds for this token at this path, and at all parts of the server. A URL with several
   * names is an audience of its own.
   * @throws AuthChallenge if the verifier cannot tell its part of the key
   */
  private keyOf(token: string, bearer: HttpExchange): string {
    const { request } = bearer;
    const { origin, path } = targetOf(request);
    try {
      return this.cache.keyOf(
        token,
        origin,
        several.test(path) ? path : this.wholeIn(path),
        this.settings.verifier.cacheKey?.(request) ?? '',
      );
    } catch (error) {
      throw this.failure(error, bearer);
    }
  }

  /** The end of a path that chooses a part of the server; undefined for a part that does not exist. */
  suffixIn(path: string): string | undefined {
    return this.views ? this.views.suffixIn(path) : '';
  }

  /** The path of the whole server. */
  private wholeIn(path: string): string {
    const bare = path.replace(/\/$/, '');
    return this.views ? bare.slice(0, bare.length - (this.suffixIn(bare) ?? '').length) : path;
  }

  /**
   * Called when all extensions of the server are there.
   * @throws McpBootstrapError for a resource that clients would take for a part of the server
   */
  attach(): void {
    this.views = this.server.extensions.find(({ views }) => views)?.views;
    const { resource } = this.settings;
    if (resource === undefined || this.suffixIn(new URL(resource).pathname) === '') return;
    throw new McpBootstrapError('McpAuthModule', `the path of "resource" ends like a toolset: ${resource}`);
  }

  /** The resource as the options declare it, for the part of the server that a path is for. */
  private declared(path: string): string | undefined {
    const { resource } = this.settings;
    const suffix = this.suffixIn(path);
    return resource === undefined || !suffix ? resource : resource.replace(/\/$/, '') + suffix;
  }

  /**
   * The audiences of tokens for a request, the one that its metadata names first. A token for one part of the server is good
   * for the others.
   */
  private resourcesOf(request: object): readonly string[] {
    const { resource } = this.settings;
    const { path } = targetOf(request);
    const others = this.server.paths.some(hasParameter) ? [] : this.server.paths;
    const bases =
      resource === undefined
        ? [this.wholeIn(path), ...others].map(one => resourceAt(request, one))
        : [resource];
    const suffixes = this.views?.suffixes() ?? [];
    const parts = bases.flatMap(base => suffixes.map(suffix => base.replace(/\/$/, '') + suffix));
    return [...new Set([this.declared(path) ?? resourceAt(request, path), ...bases, ...parts])];
  }

  /** A request that waits for a verification counts as a call. */
  private async identified(
    token: string,
    key: string,
    bearer: HttpExchange,
    limit: CallerLimit,
  ): Promise<AuthInfo> {
    const refusal = this.cache.refusal(key);
    if (refusal) throw this.failure(refusal, bearer);
    const { caller } = bearer;
    const waitSeconds = this.refused.waitSeconds(caller);
    if (waitSeconds !== undefined) throw tooManyRefused(waitSeconds);
    const reached = limit.take(caller);
    if (reached) throw reached;
    try {
      const verified = await this.cache.verify(key, () =>
        this.verify(token, bearer).catch((error: unknown) => {
          if (isInvalidToken(error)) this.refused.add(caller, key);
          throw error;
        }),
      );
      return identify(bearer.request, verified);
    } catch (error) {
      throw this.failure(error, bearer);
    } finally {
      limit.release(caller);
    }
  }

  private grantedTo(caller: AuthInfo): Scopes {
    const granted = this.granted.get(caller) ?? this.implied(caller.scopes);
    this.granted.set(caller, granted);
    return granted;
  }

  /** Whether the path of the endpoint has no parameter that tells resources apart. */
  get hasOneResource(): boolean {
    return this.settings.resource !== undefined || !hasParameter(this.server.paths[0] ?? '');
  }

  private guessed(request: object, path: string): string | undefined {
    const url = urlOf(request);
    const { http } = this.server.options;
    // A caller could choose any host, and a cache could keep the answer for others.
    if (!url || !http || !http.allowedHosts.includes(url.hostname)) return undefined;
    const port = otherPortOf(request, url);
    if (port === undefined) return canonical(resourceAt(request, path));
    this.warnOfPort(port);
    return undefined;
  }

  /** Once: operators see it, and callers cannot flood the log with ports. */
  private warnOfPort(port: string): void {
    const { name } = this.server.options;
    if (!this.hasWarnedOfPort) {
      logger.warn(
        `A request for the metadata of the server "${name}" was refused, because its Host header names port ${port}, on which the server does not listen; if clients use this port, set "resource" of McpAuthModule to the public URL`,
      );
    }
    this.hasWarnedOfPort = true;
  }

  /** Removes a caller that a guard of the application found. Here, only the token counts. */
  private anonymousIn({ request }: HttpExchange): undefined {
    if (Reflect.get(request, 'auth') !== undefined) Reflect.set(request, 'auth', undefined);
  }

  /** The refusal of a header that is repeated (400), or of a token that is not good here (401). */
  refuse(status: 400 | 401, { request }: HttpExchange): AuthChallenge {
    const { scopesSupported } = this.settings;
    return challenge(status, {
      error: status === 400 ? 'invalid_request' : 'invalid_token',
      scope: status === 400 ? [] : scopesSupported,
      metadataUrl: this.metadataUrl(request),
    });
  }

  private metadataUrl(request: object): string {
    // The endpoint has checked the host.
    const { origin, pathname } = urlOf(request)!;
    return this.settings.metadataUrl ?? metadataUrlOf(this.declared(pathname) ?? `${origin}${pathname}`);
  }

  /** @throws InvalidTokenError; the error of the verifier */
  private async verify(token: string, { request, response }: HttpExchange): Promise<AuthInfo> {
    const { verifier } = this.settings;
    const resources = this.resourcesOf(request);
    const [resource] = resources;
    // A verification that hangs would count as a call of its address for ever.
    const late = AbortSignal.timeout(this.server.options.calls.timeoutMs || VERIFICATION_MS);
    const context = { resource, resources, request, response };
    const caller = await unlessAborted(verifier.verifyAccessToken(token, context), late);
    this.isFailing = false;
    if (typeof caller?.expiresAt !== 'number' || !Number.isFinite(caller.expiresAt)) {
      throw new InvalidTokenError('The token does not expire');
    }
    const { clockToleranceSeconds = 0 } = verifier;
    if (caller.expiresAt + clockToleranceSeconds <= Date.now() / 1000)
      throw new InvalidTokenError('The token has expired');
    const { scopes = [], extra, resource: meant } = caller;
    if (meant && !resources.some(one => isSame(meant, one))) {
      throw new RefusedClaimError('resource', meant, resources);
    }
    // Requests share them while the token is cached.
    return Object.freeze({
      ...caller,
      scopes: frozenConfig(scopes),
      ...(extra && { extra: frozenConfig(extra) }),
    });
  }

  private failure(error: unknown, bearer: HttpExchange): AuthChallenge {
    if (isInvalidToken(error)) {
      const isNamed = error instanceof RefusedClaimError && this.refusalLog.admits(error);
      const line = `The server "${this.server.options.name}" refused a token: ${messageOf(error)}`;
      if (isNamed) logger.warn(line);
      else logger.debug(line);
      return this.refuse(401, bearer);
    }
    // Logged once for failures in a row, because every request fails.
    if (!this.isFailing) logger.error(`Tokens cannot be verified: ${messageOf(error)}`);
    this.isFailing = true;
    return unavailable();
  }
}

const anyAudience = (server: string): McpBootstrapError =>
  new McpBootstrapError(
    'McpAuthModule',
    `"resource" must be set, because "http.allowedHosts" of the server "${server}" is "*"; otherwise callers choose the audience of tokens`,
  );

const guessedAudience = (server: string): string =>
  `"resource" of McpAuthModule is not set for the server "${server}", which therefore also accepts tokens for the host names of requests without a port; set it to the public URL of the endpoint`;

/** Sets the properties in which guards, pipes and decorators of the application look for a caller. */
function identify(request: object, caller: AuthInfo): AuthInfo {
  // By `Reflect`, because each request of Express has a separate shape.
  Reflect.set(request, 'auth', caller);
  if (!Reflect.get(request, 'user')) Reflect.set(request, 'user', { sub: caller.clientId, ...caller.extra });
  return caller;
}

/** Several names in one part of a path. */
const several = /,|%2c/i;

/** Whether a path of Nest's stands for several paths. */
const hasParameter = (path: string): boolean => /[:*{(]/.test(path);

function isSame(one: URL, other: string): boolean {
  const bare = (url: string) => url.replace(/\/$/, '');
  return bare(canonical(one)) === bare(other);
}
