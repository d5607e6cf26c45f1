import type { DynamicModule, FactoryProvider } from '@nestjs/common';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { resolve } from '../options/check-options.js';
import { objectOf, TEXT, TIME } from '../options/option-schema.js';

/** Options of `McpRedisModule`. */
export interface McpRedisOptions {
  /** `redis://user:password@host:port/database`; with TLS, `rediss://`. */
  url: string;
  /** Prefix of all keys and channels. Give each application another prefix. Default: `nestjs-mcp:`. */
  prefix?: string;
  /** How long the start waits for Redis, and each later attempt to connect, in milliseconds. Default: 2,000. */
  connectTimeoutMs?: number;
  /** How long Redis may take for a command, in milliseconds; then the call is refused. Default: 500. */
  commandTimeoutMs?: number;
}

/** Options of `McpRedisModule.forRootAsync`: a factory makes the options. */
export interface McpRedisModuleAsyncOptions {
  /** Modules that export what the factory injects. */
  imports?: DynamicModule['imports'];
  /** Providers that the factory is called with. Default: nothing. */
  inject?: FactoryProvider['inject'];
  /** Makes the options, once, while the application starts. */
  useFactory: (...dependencies: never[]) => McpRedisOptions | Promise<McpRedisOptions>;
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

/** @throws McpBootstrapError for an option that is missing, unknown or out of range; it never holds the URL */
export const resolveRedisOptions = (options: McpRedisOptions): RedisSettings =>
  resolve(REDIS, options, problem => new McpBootstrapError('McpRedisModule', problem));
