import { Global, Module } from '@nestjs/common';
import { HandlerExplorer } from './catalog/explorer.js';
import { HandlerCompiler } from './catalog/handler-compiler.js';
import { StandInHost } from './execution/enhancer-host.js';
import { HandlerExecutor } from './execution/handler-executor.js';
import { LateProviders } from './execution/late-providers.js';
import { HandlerLoader } from './server/handler-loader.js';
import { McpServerRegistry } from './server/mcp-server-registry.js';
import { McpServers } from './server/mcp-servers.js';

/** What all servers of an application share. */
@Global()
@Module({
  providers: [
    HandlerExecutor,
    HandlerExplorer,
    HandlerCompiler,
    HandlerLoader,
    LateProviders,
    McpServers,
    McpServerRegistry,
    StandInHost,
  ],
  exports: [McpServers, McpServerRegistry],
})
export class McpCoreModule {}
