import type { RedisClientType } from 'redis';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { missingPackage } from '../exceptions/missing-package.js';
import { MAX_COMMANDS, RedisConnection } from './redis-connection.js';
import type { RedisSettings } from './redis-options.js';

/**
 * Creates a connection that is not open yet. @throws McpBootstrapError for a wrong URL, and if the package `redis` is
 * missing
 */
export async function connectionTo({ url, ...options }: RedisSettings): Promise<RedisConnection> {
  const { createClient } = await load();
  const create = () =>
    createClient({
      url,
      name: 'nestjs-mcp',
      // `RedisConnection` reconnects and limits the time of commands itself.
      socket: { connectTimeout: options.connectTimeoutMs, reconnectStrategy: false },
      commandOptions: { timeout: undefined },
      commandsQueueMaxLength: MAX_COMMANDS,
      maintNotifications: 'disabled',
    }) as unknown as RedisClientType;
  try {
    create().destroy();
  } catch {
    // The message of the original error may hold the password.
    throw new McpBootstrapError('McpRedisModule', '"url" is not a URL that the package "redis" understands');
  }
  return new RedisConnection(create, options);
}

async function load() {
  try {
    return await import('redis');
  } catch (error) {
    throw missingPackage('McpRedisModule', 'redis', error);
  }
}
