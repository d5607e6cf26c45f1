import { Logger } from '@nestjs/common';
import type { AuthInfo } from '@modelcontextprotocol/server';
import type { AuthChallenge } from '../exceptions/auth-challenge.js';
import type { Authorizer, Bearer, HandlerAccess } from '../protocol/access.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { defined } from '../util/defined.js';
import { messageOf } from '../util/message-of.js';
import { canonical, type AuthSettings } from './auth-options.js';
import { bearerToken } from './bearer-token.js';
import { challenge, unavailable } from './challenge.js';
import { metadataUrlOf, urlOf } from './resource-urls.js';
import { impliedBy, type Scopes } from './scope-hierarchy.js';
import { TokenCache } from './token-cache.js';
import { InvalidTokenError, isInvalidToken } from './token-verifier.js';

const logger = new Logger('McpAuthModule');

/** The most that clocks may differ, in seconds; a verifier may have tolerated this. */
const MAX_TOLERANCE_S = 60;

/** Decides about the calls of one server by their tokens. */
export class TokenAuthorizer implements Authorizer {
  readonly lists: AuthSettings['lists'];
  readonly anonymous: boolean;
  private readonly cache: TokenCache;
  /** The scopes of callers. A caller is the same object while its token is cached. */
  private readonly granted = new WeakMap<AuthInfo, Scopes>();
  private readonly implied: (scopes: readonly string[]) => Scopes;
  private isFailing = false;

  constructor(
    readonly settings: AuthSettings,
    readonly host: Pick<McpServerInstance, 'options' | 'paths'>,
  ) {
    this.lists = settings.lists;
    this.anonymous = settings.anonymous;
    this.cache = new TokenCache(settings.tokenCacheMs, settings.maxCachedTokens);
    this.implied = impliedBy(settings.impliedScopes);
  }

  authenticate(bearer: Bearer): AuthInfo | undefined | Promise<AuthInfo | undefined> {
    const sent = bearerToken(bearer);
    if (sent === 'none') return this.anonymousIn(bearer);
    if (sent === 'repeated') throw this.refuse(400, bearer);
    if (sent === 'malformed') throw this.refuse(401, bearer);
    const caller = this.cache.get(sent.token, () => this.verify(sent.token, bearer));
    return caller instanceof Promise
      ? caller.then(
          known => identify(bearer.request, known),
          (error: unknown) => {
            throw this.failure(error, bearer);
          },
        )
      : identify(bearer.request, caller);
  }

  allows(access: HandlerAccess | undefined, caller: AuthInfo | undefined): boolean {
    if (!caller) return access?.anonymous ?? this.anonymous;
    if (!access || access.scopes.length === 0) return true;
    const granted = this.granted.get(caller) ?? this.implied(caller.scopes);
    this.granted.set(caller, granted);
    return access.scopes.every(scope => granted.has(scope));
  }

  refusal(scopes: readonly string[], caller: AuthInfo | undefined, bearer: Bearer): AuthChallenge {
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
      settings.resource ?? this.guessed(request, path === '' ? (this.host.paths[0] ?? '') : path);
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

  private guessed(request: object, path: string): string | undefined {
    const url = urlOf(request);
    const { http } = this.host.options;
    // A caller could choose any host, and a cache could keep the answer for others.
    const isServed = http && (http.allowedHosts === '*' || (url && http.allowedHosts.includes(url.hostname)));
    return url && isServed ? canonical(new URL(path, url.origin)) : undefined;
  }

  /** Removes a caller that a guard of the application found. Here, only the token counts. */
  private anonymousIn({ request }: Bearer): undefined {
    if (Reflect.get(request, 'auth') !== undefined) Reflect.set(request, 'auth', undefined);
  }

  private refuse(status: 400 | 401, { request }: Bearer): AuthChallenge {
    const { scopesSupported } = this.settings;
    return challenge(status, {
      error: status === 400 ? 'invalid_request' : 'invalid_token',
      scope: status === 400 ? [] : scopesSupported,
      metadataUrl: this.metadataUrl(request),
    });
  }

  private metadataUrl(request: object): string {
    const { metadataUrl, resource } = this.settings;
    // The endpoint has checked the host.
    const url = urlOf(request)!;
    return metadataUrl ?? metadataUrlOf(resource ?? `${url.origin}${url.pathname}`);
  }

  /** @throws InvalidTokenError; the error of the verifier */
  private async verify(token: string, { request, response }: Bearer): Promise<AuthInfo> {
    const { verifier, resource } = this.settings;
    const caller = await verifier.verifyAccessToken(token, { resource, request, response });
    this.isFailing = false;
    if (typeof caller?.expiresAt !== 'number' || !Number.isFinite(caller.expiresAt)) {
      throw new InvalidTokenError('The token does not expire');
    }
    if (caller.expiresAt + MAX_TOLERANCE_S <= Date.now() / 1000)
      throw new InvalidTokenError('The token has expired');
    if (caller.resource && resource !== undefined && !isSame(caller.resource, resource)) {
      throw new InvalidTokenError('The token is for another resource');
    }
    return Object.freeze({ ...caller, scopes: Object.freeze([...(caller.scopes ?? [])]) as string[] });
  }

  private failure(error: unknown, bearer: Bearer): AuthChallenge {
    if (isInvalidToken(error)) {
      logger.debug(`A token was refused: ${messageOf(error)}`);
      return this.refuse(401, bearer);
    }
    // Logged once for failures in a row, because every request fails.
    if (!this.isFailing) logger.error(`Tokens cannot be verified: ${messageOf(error)}`);
    this.isFailing = true;
    return unavailable();
  }
}

/** Sets the properties in which guards, pipes and decorators of the application look for a caller. */
function identify(request: object, caller: AuthInfo): AuthInfo {
  // By `Reflect`, because each request of Express has a separate shape.
  Reflect.set(request, 'auth', caller);
  if (!Reflect.get(request, 'user')) Reflect.set(request, 'user', { sub: caller.clientId, ...caller.extra });
  return caller;
}

function isSame(one: URL, other: string): boolean {
  const bare = (url: string | URL) => new URL(url).href.replace(/#.*$/, '').replace(/\/$/, '');
  return bare(one) === bare(other);
}
