import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { resolve } from '../options/check-options.js';
import { COUNT, FLAG, HTTP_URL, listOf, objectOf, oneOf, TEXT, TIME } from '../options/option-schema.js';
import { hasMethods } from '../util/values.js';
import { isScope } from './scope.js';
import type { TokenVerifier } from './token-verifier.js';

/** Options of `McpAuthModule`. */
export interface McpAuthOptions {
  /** Name of the server to protect. Default: all servers with an HTTP endpoint. */
  server?: string;
  /**
   * The URL of the endpoint as clients have it, such as `https://api.example.com/mcp`. It is the audience of tokens.
   * Default: the URL of each request, without its query. It must be set if `http.allowedHosts` is `'*'`.
   */
  resource?: string | URL;
  /** Issuers from which clients may get tokens. */
  authorizationServers: string[];
  /** Verifies tokens: `jwtVerifier`, `introspectionVerifier`, `guardVerifier`, or your own. */
  verifier: TokenVerifier;
  /**
   * Scopes that clients can get by a login. A client that connects with a login asks for all of them; a call asks for the
   * scopes of its handler. Default: the metadata names no scopes, and clients can get any scope.
   */
  scopesSupported?: string[];
  /** Narrower scopes by the broader scope that includes them: `{ 'orders:write': ['orders:read'] }`. Default: none. */
  impliedScopes?: Record<string, string[]>;
  /** Whether handlers without `@RequireScopes()` need no token. Default: false. */
  anonymous?: boolean;
  /**
   * Which handlers a list shows: `allowed`, those that the caller may use now; `reachable`, also those that a login with
   * `scopesSupported` would open; `all`, each handler. `@Visible` still hides handlers. Default: `reachable`.
   */
  lists?: 'reachable' | 'allowed' | 'all';
  /** Name of the resource, for people. Default: none. */
  resourceName?: string;
  /** URL of a page for developers. Default: none. */
  resourceDocumentation?: string;
  /**
   * URL at which clients read the metadata, if a proxy forwards only the prefix of the endpoint.
   * Default: the well-known place of the `resource` (RFC 9728, 3.1).
   */
  metadataUrl?: string | URL;
  /**
   * How long a verified token is cached, in milliseconds, at most 60,000; 0 turns the cache off. An open stream verifies its
   * token again after this time, or after 1,000 milliseconds if it is 0. Default: 60,000.
   */
  tokenCacheMs?: number;
  /** The most tokens in the cache. Default: 10,000. */
  maxCachedTokens?: number;
  /**
   * How many different tokens from one address the verifier may refuse in a minute. Past it, further tokens that are not cached
   * get HTTP 429. Default: 100.
   */
  maxRefusedPerAddress?: number;
}

export type FilledAuthOptions = McpAuthOptions &
  Required<
    Pick<
      McpAuthOptions,
      'impliedScopes' | 'anonymous' | 'lists' | 'tokenCacheMs' | 'maxCachedTokens' | 'maxRefusedPerAddress'
    >
  >;

export const AUTH = objectOf<McpAuthOptions, FilledAuthOptions>(
  {
    server: TEXT,
    resource: HTTP_URL,
    authorizationServers: listOf(HTTP_URL, 'a list of URLs, with at least one', 1),
    verifier: { accepts: hasMethods('verifyAccessToken'), description: 'an object with verifyAccessToken' },
    scopesSupported: listOf({ type: 'string', accepts: isScope, description: 'a scope' }),
    impliedScopes: {
      type: 'object',
      additionalProperties: listOf(TEXT),
      description: 'an object, with a list of scopes for each broader one',
      default: {},
    },
    anonymous: { ...FLAG, default: false },
    lists: { ...oneOf('reachable', 'allowed', 'all'), default: 'reachable' },
    resourceName: TEXT,
    resourceDocumentation: HTTP_URL,
    metadataUrl: HTTP_URL,
    tokenCacheMs: { ...TIME, minimum: 0, maximum: 60_000, default: 60_000 },
    maxCachedTokens: { ...COUNT, default: 10_000 },
    maxRefusedPerAddress: { ...COUNT, default: 100 },
  },
  { title: 'options', required: ['authorizationServers', 'verifier'] },
);

export type AuthSettings = Omit<FilledAuthOptions, 'resource' | 'metadataUrl' | 'scopesSupported'> & {
  readonly resource?: string;
  readonly metadataUrl?: string;
  readonly scopesSupported?: readonly string[];
};

/** @throws McpBootstrapError for an option that is missing, unknown or out of range */
export function resolveAuthOptions(options: McpAuthOptions): AuthSettings {
  const settings = resolve(AUTH, options, problem => new McpBootstrapError('McpAuthModule', problem));
  const { resource, metadataUrl, scopesSupported } = settings;
  return {
    ...settings,
    resource: resource && canonical(resource),
    metadataUrl: metadataUrl && new URL(metadataUrl).href,
    // A refresh token is between a client and its authorization server (2026-07-28: basic/authorization).
    scopesSupported: scopesSupported?.filter(scope => scope !== 'offline_access'),
  };
}

/** Lower-case scheme and host, and neither fragment nor a slash that only stands for the host (RFC 8707, 2). */
export function canonical(resource: string | URL): string {
  const url = new URL(resource);
  url.hash = '';
  return url.pathname === '/' && url.search === '' ? url.origin : url.href;
}
