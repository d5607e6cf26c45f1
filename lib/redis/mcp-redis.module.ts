import {
  Inject,
  Module,
  type DynamicModule,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { SHARED, type SharedState } from '../shared/shared-state.js';
import { connectionTo } from './connection-to.js';
import type { RedisConnection } from './redis-connection.js';
import { redisLimiter } from './redis-limiter.js';
import { RedisEventStore } from './redis-event-store.js';
import { RedisMessageBus } from './redis-message-bus.js';
import { RedisMrtrStore } from './redis-mrtr-store.js';
import { RedisSessionStore } from './redis-session-store.js';
import {
  resolveRedisOptions,
  type McpRedisModuleAsyncOptions,
  type McpRedisOptions,
  type RedisSettings,
} from './redis-options.js';

const SETTINGS = 'nestjs-mcp:redis-settings';
const CONNECTION = 'nestjs-mcp:redis-connection';

/**
 * Shares sessions, changes, call states and rate limits between the nodes of an application. Import it once, in any
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
  constructor(@Inject(CONNECTION) private readonly redis: RedisConnection) {}

  /** @throws McpBootstrapError, while the application starts, for wrong options, and if the package `redis` is missing */
  static forRoot(options: McpRedisOptions): DynamicModule {
    return moduleOf({ provide: SETTINGS, useFactory: () => resolveRedisOptions(options) });
  }

  /** Like `forRoot`, with options from a factory. */
  static forRootAsync({ imports, inject = [], useFactory }: McpRedisModuleAsyncOptions): DynamicModule {
    const make = async (...dependencies: never[]) => resolveRedisOptions(await useFactory(...dependencies));
    return moduleOf({ provide: SETTINGS, inject, useFactory: make }, imports);
  }

  /** Connects before the transports open. Without Redis, the application still starts. */
  onModuleInit(): Promise<void> {
    return this.redis.open();
  }

  /** Disconnects after the transports have closed. */
  onApplicationShutdown(): Promise<void> {
    return this.redis.close();
  }
}

const moduleOf = (settings: Provider, imports: DynamicModule['imports'] = []): DynamicModule => ({
  module: McpRedisModule,
  global: true,
  imports,
  providers: [
    settings,
    { provide: CONNECTION, inject: [SETTINGS], useFactory: connectionTo },
    { provide: SHARED, inject: [CONNECTION, SETTINGS], useFactory: shareOver },
  ],
  exports: [SHARED],
});

const shareOver = (redis: RedisConnection, { prefix }: RedisSettings): SharedState => ({
  bus: new RedisMessageBus(redis, prefix),
  store: new RedisMrtrStore(redis, prefix),
  sessions: new RedisSessionStore(redis, prefix),
  events: new RedisEventStore(redis, prefix),
  ping: async () => void (await redis.run(client => client.ping())),
  limiter: options => redisLimiter(redis, prefix, options),
});
