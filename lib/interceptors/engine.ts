import { Logger } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { RequestScope } from '../execution/request-scope.js';
import { AuditRuns } from './chain/audit-runs.js';
import { LOCAL_HOST } from './chain/entry.js';
import { assertHosts } from './remote/check-server.js';
import type { InterceptorServerOptions } from './remote/host-options.js';
import { HostPool } from './remote/host-pool.js';
import { type LocalInterceptor, localInterceptors } from './local/local-interceptors.js';
import { openHost } from './remote/open-host.js';
import type { OpenHostOptions } from './remote/remote-host.js';
import type { InterceptorSettings } from './interceptor-options.js';
import { logLine } from '../util/log-line.js';
import { MergedChain, type HostsFor } from './merged-chain.js';
import type { Policy } from './overrides.js';
import type { InterceptorPolicy } from './policy/policy.js';
import { PolicyFile } from './policy/policy-file.js';
import type { Traffic } from '../protocol/traffic.js';
import type { RemoteHost } from './remote/remote-host.js';
import type { InterceptorReports } from './reports.js';

export type ChainSettings = Pick<
  InterceptorSettings,
  'servers' | 'resolveServers' | 'discovery' | 'policyFile' | 'overrides' | 'config'
>;

/** Builds the chains of an application. It is loaded if the application has interceptors. */
export class InterceptorEngine {
  private readonly pools: HostPool[] = [];
  /** The hosts of the option `interceptors.servers`. */
  readonly remoteHosts: RemoteHost[] = [];
  private readonly files: PolicyFile[] = [];
  private readonly runs: AuditRuns[] = [];
  private found?: Promise<readonly LocalInterceptor[]>;

  constructor(
    private readonly modules: ModulesContainer,
    private readonly scope: RequestScope,
    private readonly reports: InterceptorReports,
    private readonly traffic: Traffic,
  ) {}

  /**
   * The interceptors for a server or client that does not exist.
   * @throws McpBootstrapError for invalid interceptors
   */
  async misplaced(names: ReadonlySet<string>): Promise<McpBootstrapError[]> {
    return (await this.local())
      .filter(({ server }) => server !== undefined && !names.has(server))
      .map(
        ({ server, where }) =>
          new McpBootstrapError(
            where,
            `the MCP server "${server}" does not exist; correct "server", or add a server or a client with this name`,
          ),
      );
  }

  /** @throws McpBootstrapError for invalid settings */
  async chainFor(
    name: string,
    { servers, resolveServers, discovery, policyFile, overrides, config }: ChainSettings,
    where: string,
  ): Promise<MergedChain> {
    assertHosts(servers, where);
    const found = await this.local();
    const own = found.filter(({ server }) => server === undefined || server === name);
    const local = own.map(({ entry }) => entry);
    const logger = new Logger(`McpInterceptors(${name})`);
    const warn = (message: string) => logger.warn(logLine(message));
    const verbose = (message: string) => logger.verbose(logLine(message));
    try {
      const file = policyFile === undefined ? undefined : new PolicyFile(policyFile);
      const policyWith = (read?: InterceptorPolicy): Policy => ({
        overrides: read ? [overrides, read.overrides] : [overrides],
        config: read ? [config, read.config] : [config],
      });
      const policy = policyWith(file?.read());
      const host = { ...discovery, server: name, warn, verbose, traffic: this.traffic };
      const remote = await this.open(servers, host);
      const auditRuns = new AuditRuns();
      this.runs.push(auditRuns);
      const chain = new MergedChain({
        local,
        hosts: remote,
        ...(resolveServers && { hostsFor: this.chooser(resolveServers, host) }),
        policy,
        options: {
          auditRuns,
          observe: this.traffic.turns,
          observeSink: (entry, message) => this.reports.sinkBegan(name, entry, message),
        },
        warn,
      });
      if (file) this.watch(file, logger, read => chain.apply(policyWith(read)));
      return chain;
    } catch (error) {
      throw new McpBootstrapError(where, (error as Error).message);
    }
  }

  async close(): Promise<void> {
    for (const file of this.files.splice(0)) file.close();
    await Promise.all(this.runs.splice(0).map(one => one.close()));
    await Promise.all([...this.pools, ...this.remoteHosts].map(one => one.close()));
  }

  private local(): Promise<readonly LocalInterceptor[]> {
    return (this.found ??= localInterceptors(this.modules, this.scope));
  }

  private chooser(
    resolveServers: NonNullable<ChainSettings['resolveServers']>,
    options: OpenHostOptions,
  ): HostsFor {
    const pool = new HostPool(options);
    this.pools.push(pool);
    return async (caller, lease) => {
      const servers = await resolveServers(caller);
      return Promise.all(servers.map(server => pool.get(server, lease)));
    };
  }

  private async open(
    servers: readonly InterceptorServerOptions[],
    options: OpenHostOptions,
  ): Promise<RemoteHost[]> {
    const names = [LOCAL_HOST, ...servers.map(({ name }) => name)];
    const twice = names.find((name, index) => names.indexOf(name) < index);
    if (twice !== undefined) throw new Error(`"interceptors.servers" has two hosts named "${twice}"`);
    const opened = await Promise.all(servers.map(server => openHost(server, options)));
    this.remoteHosts.push(...opened);
    return opened;
  }

  private watch(file: PolicyFile, logger: Logger, apply: (policy: InterceptorPolicy) => void): void {
    this.files.push(file);
    file.watch(
      policy => {
        apply(policy);
        logger.log('The policy file has changed; its new policy is in force');
      },
      error => logger.error(logLine(`The policy stays as it was: ${error.message}`)),
    );
  }
}
