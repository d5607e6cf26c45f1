// Sessions, and several nodes that share them.
import { Module } from '@nestjs/common';
import { MemoryEventStore, type EventStore, type MrtrStore } from 'nestjs-mcp';
import type { MessageBus, SessionStore } from 'nestjs-mcp/redis';
// #region imports
import { McpModule } from 'nestjs-mcp';
import { McpRedisModule } from 'nestjs-mcp/redis';
// #endregion imports
import { CatalogTools } from './start/catalog.tools.js';

export const sessions =
  // #region sessions
  McpModule.forRoot({
    name: 'shop',
    version: '1.0.0',
    sessions: {
      idleTimeoutMs: 600_000,
      eventStore: new MemoryEventStore({ ttlMs: 300_000 }),
    },
  });
// #endregion sessions

// #region redis
@Module({
  imports: [
    McpModule.forRoot({
      name: 'shop',
      version: '1.0.0',
      mrtr: { secret: process.env.MCP_SECRET },
    }),
    McpRedisModule.forRoot({
      url: process.env.REDIS_URL ?? 'redis://localhost:6379',
      prefix: 'shop:',
    }),
  ],
  providers: [CatalogTools],
})
export class AppModule {}
// #endregion redis

// #region another
export const shopModule = (
  bus: MessageBus,
  store: SessionStore,
  eventStore: EventStore,
  states: MrtrStore,
) =>
  McpModule.forRoot({
    name: 'shop',
    version: '1.0.0',
    bus,
    sessions: { store, eventStore },
    mrtr: { store: states, secret: process.env.MCP_SECRET },
  });
// #endregion another
