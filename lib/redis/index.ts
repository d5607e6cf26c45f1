export { McpRedisModule } from './mcp-redis.module.js';
export type { McpRedisOptions } from './redis-options.js';
export type { MessageBus } from '../shared/message-bus.js';
export type { SessionStore } from '../shared/session-store.js';
