import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HandlerExplorer, type DiscoveredHandler } from '../catalog/explorer.js';
import { HandlerCompiler } from '../catalog/handler-compiler.js';
import { describeTarget } from '../execution/handler-target.js';
import { InterceptorLoader } from './interceptor-loader.js';
import { assertCompletes } from './assert-completes.js';
import { assertGatewayProtected, assertProtected } from './assert-protected.js';
import type { McpServerInstance } from './mcp-server-instance.js';
import { McpServers } from './mcp-servers.js';
import { Traffic } from '../protocol/traffic.js';
import { warnUnreachable } from './warn-unreachable.js';

/** Finds, compiles and distributes all decorated handlers, once, while the application starts. */
@Injectable()
export class HandlerLoader implements OnModuleInit {
  constructor(
    private readonly explorer: HandlerExplorer,
    private readonly compiler: HandlerCompiler,
    private readonly servers: McpServers,
    private readonly interceptors: InterceptorLoader,
    private readonly traffic: Traffic,
  ) {}

  async onModuleInit(): Promise<void> {
    for (const handler of this.explorer.explore()) {
      const entry = await this.compiler.compile(handler);
      for (const host of this.hostsOf(handler)) host.table.add(entry);
    }
    this.servers.applyProtections();
    for (const host of this.servers.all()) {
      host.publish();
      assertGatewayProtected(host);
      for (const entry of host.table.enabled()) {
        assertCompletes(entry, host);
        assertProtected(entry, host);
      }
      warnUnreachable(host);
    }
    for (const host of this.servers.all()) host.observe(this.traffic);
    await this.interceptors.load(this.servers.all(), this.servers.clients);
    await this.servers.start();
  }

  private hostsOf({ metadata, target, featureServers }: DiscoveredHandler): McpServerInstance[] {
    const { server } = metadata.options;
    const names = server === undefined && featureServers.length > 0 ? featureServers : [server];
    return names.map(name => this.servers.require(name, describeTarget(target)));
  }
}
