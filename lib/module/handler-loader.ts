import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { Entry } from '../catalog/entries.js';
import { HandlerExplorer, type DiscoveredHandler } from '../catalog/explorer.js';
import { HandlerCompiler } from '../catalog/handler-compiler.js';
import { describeTarget } from '../execution/handler-target.js';
import { InterceptorLoader } from './interceptor-loader.js';
import { assertCompletes } from './assert-completes.js';
import { assertGatewayProtected, assertProtected } from './assert-protected.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { McpServers } from './mcp-servers.js';
import { Traffic } from '../protocol/traffic.js';
import { warnUnreachable } from './warn-unreachable.js';

/** Finds, compiles and distributes all decorated handlers, once, while the application starts. */
@Injectable()
export class HandlerLoader implements OnModuleInit {
  private readonly logger = new Logger('McpModule');

  constructor(
    private readonly explorer: HandlerExplorer,
    private readonly compiler: HandlerCompiler,
    private readonly servers: McpServers,
    private readonly interceptors: InterceptorLoader,
    private readonly traffic: Traffic,
  ) {}

  /** @throws McpBootstrapError that lists all mistakes; it is also logged */
  async onModuleInit(): Promise<void> {
    const { servers, interceptors } = this;
    const { mistakes } = servers;
    // A server or a protection that does not exist because its options are wrong is not a second mistake.
    const areOptionsRight = mistakes.none;
    await this.compile(areOptionsRight);
    if (areOptionsRight) await this.check();
    await mistakes.collect(async () => {
      const misplaced = await interceptors.misplaced(new Set([...servers.names, ...servers.clients]));
      if (areOptionsRight) mistakes.add(...misplaced);
    });
    // The next steps open connections, for which the application must be sound.
    this.assertNone();
    for (const host of servers.all()) host.observe(this.traffic);
    for (const host of servers.all()) {
      await mistakes.collect(async () => {
        const extension = await interceptors.extensionOf(host);
        if (extension) host.extend(extension);
      });
    }
    await servers.start();
    this.assertNone();
    mistakes.close();
  }

  private async compile(areOptionsRight: boolean): Promise<void> {
    const { mistakes } = this.servers;
    mistakes.add(...this.explorer.unprovided());
    for (const handler of this.explorer.explore()) {
      await mistakes.collect(async () => {
        const entry = await this.compiler.compile(handler);
        if (!areOptionsRight) return;
        for (const host of this.hostsOf(handler)) host.table.add(entry);
      });
    }
  }

  private async check(): Promise<void> {
    const { mistakes } = this.servers;
    // A completion of a handler that was not compiled is not a second mistake.
    const isWhole = mistakes.none;
    const isProtected = await mistakes.collect(() => this.servers.applyProtections());
    for (const host of this.servers.all()) {
      host.publish();
      if (isProtected) await mistakes.collect(() => assertGatewayProtected(host));
      for (const entry of host.table.enabled()) {
        if (isWhole) await mistakes.collect(() => assertCompletes(entry, host));
        if (isProtected) await mistakes.collect(() => assertProtected(entry, host));
      }
      if ([...host.table.enabled()].some(asks)) await host.rounds.load();
      warnUnreachable(host);
    }
  }

  private assertNone(): void {
    const error = this.servers.mistakes.error();
    if (!error) return;
    this.logger.error(error.message);
    throw error;
  }

  private hostsOf({ metadata, target, featureServers }: DiscoveredHandler): McpServerInstance[] {
    const { server } = metadata.options;
    const names = server === undefined && featureServers.length > 0 ? featureServers : [server];
    return names.map(name => this.servers.require(name, describeTarget(target)));
  }
}

/** Whether the signature of a handler shows that it can ask its client. */
const asks = ({ run }: Entry): boolean =>
  run.plan.params.some(({ kind }) => kind === 'ask' || kind === 'context');
