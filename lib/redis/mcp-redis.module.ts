import {
  Inject,
  Module,
  type DynamicModule,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import type { AsyncOptions } from '../options/async-options.js';
import { McpCoreModule } from '../module/mcp-core.module.js';
import { MCP_SERVERS, type McpServers } from '../module/mcp-servers.js';
import { SHARED, type SharedState } from '../stores/shared-state.js';
import { SharedCounts } from '../stores/shared-counts.js';
import { connectionTo } from './connection-to.js';
import { RedisConnection } from './redis-connection.js';
import type { RedisLink } from './redis-link.js';
import { redisLimiter } from './redis-limiter.js';
import { RedisCountStore } from './redis-count-store.js';
import { RedisEventStore } from './redis-event-store.js';
import { RedisMessageBus } from './redis-message-bus.js';
import { RedisMrtrStore } from './redis-mrtr-store.js';
import { RedisTaskStore } from './redis-task-store.js';
import { RedisSessionStore } from './redis-session-store.js';
import { resolveRedisOptions, type McpRedisOptions, type RedisSettings } from './redis-options.js';

const SETTINGS = 'nestjs-mcp:redis-settings';
const CONNECTION = 'nestjs-mcp:redis-connection';

/** Replaces options that are wrong. The application does not start, so nothing connects. */
const STAND_IN = resolveRedisOptions({ url: 'redis://localhost' });
const noClient = () => Promise.reject<never>(new Error('the package "redis" is missing'));

/**
 * Shares sessions, changes, call states, tasks and rate limits between the nodes of an application. Import it once, in any
 * module.
 * @example
 * ```ts
 * @Module({ imports: [McpRedisModule.forRoot({ url: 'redis://localhost:6379', prefix: 'shop:' })] })
 * export class AppModule {}
 * ```
 */
@Module({})
export class McpRedisModule implements OnModuleInit, OnApplicationShutdown {
  /** @internal Nest creates it. */
  constructor(
    @Inject(CONNECTION) private readonly redis: RedisLink,
    @Inject(MCP_SERVERS) private readonly servers: McpServers,
  ) {}

  /** @throws McpBootstrapError, while the application starts, for wrong options, and if the package `redis` is missing */
  static forRoot(options: McpRedisOptions): DynamicModule {
    return moduleOf({ useFactory: () => options });
  }

  /** Like `forRoot`, with options from a factory. */
  static forRootAsync(options: AsyncOptions<McpRedisOptions>): DynamicModule {
    return moduleOf(options);
  }

  /** Connects before the transports open. Without Redis, the application still starts. */
  async onModuleInit(): Promise<void> {
    if (this.servers.mistakes.none) await this.redis.open();
  }

  /** Disconnects after the transports have closed. */
  onApplicationShutdown(): Promise<void> {
    return this.redis.close();
  }
}

const moduleOf = (options: AsyncOptions<McpRedisOptions>): DynamicModule => ({
  module: McpRedisModule,
  global: true,
  imports: [McpCoreModule, ...(options.imports ?? [])],
  providers: [
    {
      provide: SETTINGS,
      inject: [MCP_SERVERS, ...(options.inject ?? [])],
      useFactory: async ({ mistakes }: McpServers, ...dependencies: never[]) => {
        const given = await options.useFactory(...dependencies);
        return mistakes.attempt(() => resolveRedisOptions(given)) ?? STAND_IN;
      },
    },
    {
      provide: CONNECTION,
      inject: [SETTINGS, MCP_SERVERS],
      useFactory: async (settings: RedisSettings, { mistakes }: McpServers) =>
        (await connectionTo(settings).catch(mistakes.keep)) ?? new RedisConnection(noClient, settings),
    },
    { provide: SHARED, inject: [CONNECTION, SETTINGS], useFactory: shareOver },
  ],
  exports: [SHARED],
});

const shareOver = (redis: RedisLink, { prefix }: RedisSettings): SharedState => ({
  bus: new RedisMessageBus(redis, prefix),
  store: new RedisMrtrStore(redis, prefix),
  sessions: new RedisSessionStore(redis, prefix),
  events: new RedisEventStore(redis, prefix),
  tasks: new RedisTaskStore(redis, prefix),
  ping: async () => void (await redis.run(client => client.ping())),
  counts: limit => new SharedCounts(new RedisCountStore(redis, prefix), limit),
  limiter: options => redisLimiter(redis, prefix, options),
});
