import { Global, Logger, Module } from '@nestjs/common';
import { MCP_SERVERS, McpServers } from './mcp-servers.js';
import { HandlerExplorer } from '../catalog/explorer.js';
import { HandlerCompiler } from '../catalog/handler-compiler.js';
import { EnhancerHost } from '../execution/enhancer-host.js';
import { BoundMiddleware } from '../execution/route/bound-middleware.js';
import { HandlerExecutor } from '../execution/handler-executor.js';
import { RequestScope } from '../execution/request-scope.js';
import { InterceptorChainRunner } from './interceptor-chain-runner.js';
import { InterceptorLoader } from './interceptor-loader.js';
import { InterceptorReports } from '../interceptors/reports.js';
import { HandlerLoader } from './handler-loader.js';
import { Traffic } from '../protocol/traffic.js';
import { McpServerRegistry } from './mcp-server-registry.js';
import { loadedVersions } from '../util/version.js';

/** The providers that all servers of an application share. */
@Global()
@Module({
  providers: [
    BoundMiddleware,
    HandlerExecutor,
    HandlerExplorer,
    HandlerCompiler,
    HandlerLoader,
    InterceptorChainRunner,
    InterceptorLoader,
    InterceptorReports,
    McpServers,
    McpServerRegistry,
    RequestScope,
    EnhancerHost,
    Traffic,
    { provide: MCP_SERVERS, useExisting: McpServers },
  ],
  exports: [
    BoundMiddleware,
    InterceptorChainRunner,
    InterceptorReports,
    InterceptorLoader,
    MCP_SERVERS,
    McpServers,
    McpServerRegistry,
    RequestScope,
    Traffic,
  ],
})
export class McpCoreModule {
  constructor() {
    if (loadedVersions.size === 1) return;
    const versions = [...loadedVersions].join(' and ');
    new Logger('McpModule').warn(
      `The process has loaded nestjs-mcp ${versions}, whose handlers and providers do not fit together; install one version (npm ls nestjs-mcp shows who needs which)`,
    );
  }
}
