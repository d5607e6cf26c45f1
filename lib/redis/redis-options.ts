import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { resolve } from '../options/check-options.js';
import { objectOf, TEXT, TIME } from '../options/option-schema.js';

/** Options of `McpRedisModule`. */
export interface McpRedisOptions {
  /** `redis://user:password@host:port/database`; with TLS, `rediss://`. */
  url: string;
  /** Prefix of all keys and channels. Give each application another prefix. Default: `nestjs-mcp:`. */
  prefix?: string;
  /**
   * Deadline for each attempt to connect, in milliseconds. The start-up waits for the first attempt. Default: 2,000.
   */
  connectTimeoutMs?: number;
  /** Deadline for a Redis command, in milliseconds; after it, the call is refused. Default: 500. */
  commandTimeoutMs?: number;
}

export type RedisSettings = Readonly<Required<McpRedisOptions>>;

const URL_FORM = /^rediss?:$/;

export const REDIS = objectOf<McpRedisOptions, RedisSettings>(
  {
    url: {
      accepts: (url: unknown) =>
        typeof url === 'string' && URL.canParse(url) && URL_FORM.test(new URL(url).protocol),
      description: 'a URL with redis or rediss, such as "redis://localhost:6379"',
    },
    prefix: { ...TEXT, default: 'nestjs-mcp:' },
    connectTimeoutMs: { ...TIME, default: 2000 },
    commandTimeoutMs: { ...TIME, default: 500 },
  },
  { title: 'options', required: ['url'] },
);

/**
 * @throws McpBootstrapError for an option that is missing, unknown or out of range. The message never holds the URL.
 */
export const resolveRedisOptions = (options: McpRedisOptions): RedisSettings =>
  resolve(REDIS, options, problem => new McpBootstrapError('McpRedisModule', problem));
