export { McpRedisModule } from './mcp-redis.module.js';
export type { McpRedisOptions } from './redis-options.js';
export type { MessageBus } from '../stores/message-bus.js';
export type { SessionStore } from '../stores/session-store.js';
