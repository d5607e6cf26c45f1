import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { resolve } from '../options/check-options.js';
import { OBJECT, objectOf, TEXT, TIME } from '../options/option-schema.js';

/**
 * Options of `McpRedisModule`. One of `url`, `client`, `cluster` and `sentinel` is needed. The last three are objects
 * here, because the types must not need the optional package `redis`; it checks them at start.
 */
export interface McpRedisOptions {
  /** `redis://user:password@host:port/database`; with TLS, `rediss://`. */
  url?: string;
  /** `RedisClientOptions` of the package `redis`, for example with certificates. */
  client?: object;
  /** `RedisClusterOptions` of the package `redis`. The cluster needs Redis 7 or later. */
  cluster?: object;
  /** `RedisSentinelOptions` of the package `redis`; those of its pools have no effect. */
  sentinel?: object;
  /** Prefix of all keys and channels. Give each application another prefix. Default: `nestjs-mcp:`. */
  prefix?: string;
  /**
   * Deadline for each attempt to connect, in milliseconds. The start-up waits for the first attempt. Default: 2,000.
   */
  connectTimeoutMs?: number;
  /** Deadline for a Redis command, in milliseconds; after it, the call is refused. Default: 500. */
  commandTimeoutMs?: number;
}

type Place = 'url' | 'client' | 'cluster' | 'sentinel';

export type RedisSettings = Readonly<Required<Omit<McpRedisOptions, Place>> & Pick<McpRedisOptions, Place>>;

const PLACES: readonly Place[] = ['url', 'client', 'cluster', 'sentinel'];

const URL_FORM = /^rediss?:$/;

export const REDIS = objectOf<McpRedisOptions, RedisSettings>(
  {
    url: {
      accepts: (url: unknown) =>
        typeof url === 'string' && URL.canParse(url) && URL_FORM.test(new URL(url).protocol),
      description: 'a URL with redis or rediss, such as "redis://localhost:6379"',
    },
    client: OBJECT,
    cluster: OBJECT,
    sentinel: OBJECT,
    prefix: { ...TEXT, default: 'nestjs-mcp:' },
    connectTimeoutMs: { ...TIME, default: 2000 },
    commandTimeoutMs: { ...TIME, default: 500 },
  },
  {
    title: 'options',
    problem: (options: McpRedisOptions) =>
      PLACES.filter(place => options[place] !== undefined).length === 1
        ? undefined
        : 'one of "url", "client", "cluster" and "sentinel" must be given',
  },
);

/**
 * @throws McpBootstrapError for an option that is missing, unknown or out of range. The message never holds the URL.
 */
export const resolveRedisOptions = (options: McpRedisOptions): RedisSettings =>
  resolve(REDIS, options, problem => new McpBootstrapError('McpRedisModule', problem));
