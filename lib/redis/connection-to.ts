import type {
  RedisClientOptions,
  RedisClientType,
  RedisClusterOptions,
  RedisClusterType,
  RedisSentinelOptions,
} from 'redis';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { missingPackage } from '../exceptions/missing-package.js';
import { ClusterConnection } from './cluster-connection.js';
import { RedisConnection } from './redis-connection.js';
import { MAX_COMMANDS, within, type RedisLink } from './redis-link.js';
import type { RedisSettings } from './redis-options.js';

/** Time until a shard that cannot be reached makes the client ask for the primaries, in milliseconds. */
const REFRESH_MS = 1000;

/**
 * Creates a connection that is not open yet. @throws McpBootstrapError for options that the package `redis` refuses, and
 * if it is missing
 */
export async function connectionTo(settings: RedisSettings): Promise<RedisLink> {
  const redis = await load();
  const { url, connectTimeoutMs } = settings;
  const client = settings.client as RedisClientOptions | undefined;
  const cluster = settings.cluster as RedisClusterOptions | undefined;
  const sentinel = settings.sentinel as RedisSentinelOptions | undefined;
  const common = {
    name: 'nestjs-mcp',
    // The connection limits the time of commands itself.
    commandOptions: { timeout: undefined },
    commandsQueueMaxLength: MAX_COMMANDS,
    maintNotifications: 'disabled',
  } as const;
  const create = (options: RedisClientOptions) =>
    redis.createClient({
      ...options,
      ...common,
      // The connection reconnects itself.
      socket: { ...options.socket, connectTimeout: connectTimeoutMs, reconnectStrategy: false } as never,
    }) as unknown as RedisClientType;
  if (cluster) {
    const { defaults } = cluster;
    const createCluster = () =>
      redis.createCluster({
        ...cluster,
        // A shard that cannot be reached must not keep the others waiting.
        minimizeConnections: true,
        topologyRefreshOnReconnectionAttemptStrategy: REFRESH_MS,
        defaults: {
          ...defaults,
          ...common,
          disableOfflineQueue: true,
          socket: { ...defaults?.socket, connectTimeout: connectTimeoutMs } as never,
        },
      }) as unknown as RedisClusterType;
    attempt('cluster', () => createCluster().destroy());
    return new ClusterConnection(createCluster, error => error instanceof redis.ErrorReply, settings);
  }
  if (sentinel) {
    attempt('sentinel', () => {
      for (const { host, port } of sentinel.sentinelRootNodes) create({ socket: { host, port } }).destroy();
    });
    const toPrimary = async () => {
      const address = await primaryOf(sentinel, create, connectTimeoutMs);
      return create({
        ...(sentinel.nodeClientOptions as RedisClientOptions),
        socket: { ...sentinel.nodeClientOptions?.socket, ...address },
      });
    };
    return new RedisConnection(toPrimary, settings);
  }
  const options = client ?? { url };
  attempt(client ? 'client' : 'url', () => create(options).destroy());
  return new RedisConnection(async () => create(options), settings);
}

/**
 * Asks the Sentinels for the primary, for each attempt to connect. The client of the package for Sentinels is not used,
 * since it waits for a primary, while calls have to be refused at once.
 */
async function primaryOf(
  { name, sentinelRootNodes, sentinelClientOptions }: RedisSentinelOptions,
  create: (options: RedisClientOptions) => RedisClientType,
  timeoutMs: number,
): Promise<{ host: string; port: number }> {
  let reason: unknown = new Error('no Sentinel is named');
  for (const { host, port } of sentinelRootNodes) {
    const own = sentinelClientOptions;
    const client = create({ ...own, socket: { ...own?.socket, host, port } });
    client.on('error', () => undefined);
    try {
      await within(timeoutMs, client.connect());
      const reply = await within(
        timeoutMs,
        client.sendCommand(['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name]),
      );
      if (Array.isArray(reply)) return { host: String(reply[0]), port: Number(reply[1]) };
      reason = new Error(`the Sentinel does not know "${name}"`);
    } catch (error) {
      reason = error;
    } finally {
      client.destroy();
    }
  }
  throw reason;
}

/** The message of the original error may hold the password. */
function attempt(option: string, work: () => unknown): void {
  try {
    work();
  } catch {
    throw new McpBootstrapError('McpRedisModule', `the package "redis" does not understand "${option}"`);
  }
}

async function load() {
  try {
    return await import('redis');
  } catch (error) {
    throw missingPackage('McpRedisModule', 'redis', error);
  }
}
