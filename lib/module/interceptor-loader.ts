import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { exploreMethods } from '../execution/explore-methods.js';
import { RequestScope } from '../execution/request-scope.js';
import { INTERCEPTOR_METADATA } from '../interceptors/decorators/interceptor.decorators.js';
import type { ChainSettings, InterceptorEngine } from '../interceptors/engine.js';
import type { MergedChain } from '../interceptors/merged-chain.js';
import type { RemoteHost } from '../interceptors/remote/remote-host.js';
import { InterceptorReports } from '../interceptors/reports.js';
import { Traffic } from '../protocol/traffic.js';
import type { ServerExtension } from '../protocol/server-extension.js';
import type { ResolvedOptions } from '../server/server-options.js';

/** Loads the engine of the interceptors when it is needed: at start if the application has interceptors. */
@Injectable()
export class InterceptorLoader implements OnApplicationShutdown {
  private readonly chains = new Map<string, Promise<MergedChain>>();
  private loading?: Promise<InterceptorEngine>;
  private loaded?: InterceptorEngine;
  private declares?: boolean;

  constructor(
    private readonly modules: ModulesContainer,
    private readonly scope: RequestScope,
    private readonly reports: InterceptorReports,
    private readonly traffic: Traffic,
  ) {}

  /** The hosts of the option `interceptors.servers`. */
  get remoteHosts(): readonly RemoteHost[] {
    return this.loaded?.remoteHosts ?? [];
  }

  /**
   * The interceptors for a server or client that does not exist.
   * @param names of the servers and clients
   * @throws McpBootstrapError for invalid interceptors
   */
  async misplaced(names: ReadonlySet<string>): Promise<McpBootstrapError[]> {
    return this.isDeclared ? (await this.engine()).misplaced(names) : [];
  }

  /**
   * The extension that runs the interceptors of a server; undefined if there is nothing to run.
   * @throws McpBootstrapError for an invalid policy, or two hosts with the same name
   */
  async extensionOf(options: ResolvedOptions): Promise<ServerExtension | undefined> {
    const { name, interceptors: settings, pageSize, cache } = options;
    const { expose, servers, resolveServers, policyFile } = settings;
    const isSet = expose || servers.length > 0 || resolveServers || policyFile !== undefined;
    if (!isSet && !this.isDeclared) return undefined;
    const chain = await this.chainOf(options);
    const { interceptorExtension } = await import('../interceptors/extension.js');
    const logger = new Logger(`McpModule(${name})`);
    return interceptorExtension({
      server: name,
      chain,
      settings,
      reports: this.reports,
      pageSize,
      ttlMs: cache['interceptors/list']?.ttlMs,
      log: message => logger.warn(message),
    });
  }

  /** The chain of a server. @throws McpBootstrapError */
  chainOf({ name, interceptors }: ResolvedOptions): Promise<MergedChain> {
    const where = `McpModule.forRoot({ name: ${JSON.stringify(name)} })`;
    const chain = this.chains.get(name) ?? this.chainFor(name, interceptors, where);
    this.chains.set(name, chain);
    return chain;
  }

  /** Builds a chain. @throws McpBootstrapError for invalid settings */
  async chainFor(name: string, settings: ChainSettings, where: string): Promise<MergedChain> {
    return (await this.engine()).chainFor(name, settings, where);
  }

  async onApplicationShutdown(): Promise<void> {
    await (await this.loading)?.close();
  }

  private get isDeclared(): boolean {
    const read = (method: object) => (Reflect.hasMetadata(INTERCEPTOR_METADATA, method) ? [true] : []);
    return (this.declares ??= exploreMethods(this.modules, read).next().done === false);
  }

  private engine(): Promise<InterceptorEngine> {
    return (this.loading ??= import('../interceptors/engine.js').then(
      ({ InterceptorEngine: Engine }) =>
        (this.loaded = new Engine(this.modules, this.scope, this.reports, this.traffic)),
    ));
  }
}
