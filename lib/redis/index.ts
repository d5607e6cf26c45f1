export { McpRedisModule } from './mcp-redis.module.js';
export type { McpRedisModuleAsyncOptions, McpRedisOptions } from './redis-options.js';
