import { Module } from '@nestjs/common';
import { McpCoreModule } from '../mcp-core.module.js';
import { InputHandlers } from './input-handlers.js';
import { McpClients } from './mcp-clients.js';

/** What all clients of an application share. */
@Module({
  imports: [McpCoreModule],
  providers: [InputHandlers, McpClients],
  exports: [McpClients],
})
export class McpClientCoreModule {}
