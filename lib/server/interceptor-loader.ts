import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { McpServerInstance } from './mcp-server-instance.js';
import { Beside } from '../interceptors/chain/beside.js';
import { LOCAL_HOST } from '../interceptors/chain/entry.js';
import type { LocalChainSource } from '../interceptors/local-chain-source.js';
import type { InterceptorServerOptions } from '../interceptors/remote/host-options.js';
import { HostPool } from '../interceptors/remote/host-pool.js';
import { LocalHost } from '../interceptors/local/local-host.js';
import { openHost, type OpenedHost } from '../interceptors/remote/open-host.js';
import type { OpenHostOptions } from '../interceptors/remote/remote-host.js';
import type { InterceptorSettings } from '../interceptors/interceptor-options.js';
import { logLine } from '../util/log-line.js';
import { MergedChain, type HostsFor } from '../interceptors/merged-chain.js';
import type { Policy } from '../interceptors/overrides.js';
import type { InterceptorPolicy } from '../interceptors/policy/policy.js';
import { PolicyFile } from '../interceptors/policy/policy-file.js';
import { Traffic } from '../protocol/traffic.js';
import type { RemoteHost } from '../interceptors/remote/remote-host.js';
import { InterceptorReports } from '../interceptors/reports.js';

type ChainSettings = Pick<
  InterceptorSettings,
  'servers' | 'resolveServers' | 'discovery' | 'policyFile' | 'overrides' | 'config'
>;

@Injectable()
export class InterceptorLoader implements OnApplicationShutdown {
  private readonly hosts: Pick<OpenedHost, 'close'>[] = [];
  /** The hosts of the option `interceptors.servers`. */
  readonly remoteHosts: RemoteHost[] = [];
  private readonly files: PolicyFile[] = [];
  private readonly besides: Beside[] = [];

  constructor(
    private readonly local: LocalHost,
    private readonly reports: InterceptorReports,
    private readonly traffic: Traffic,
  ) {}

  /**
   * The interceptors for a server or client that does not exist.
   * @throws McpBootstrapError for invalid interceptors
   */
  async misplaced(
    hosts: readonly McpServerInstance[],
    clients: ReadonlySet<string>,
  ): Promise<McpBootstrapError[]> {
    const names = new Set([...hosts.map(({ options }) => options.name), ...clients]);
    return (await this.local.interceptors())
      .filter(({ server }) => server !== undefined && !names.has(server))
      .map(
        ({ server, where }) =>
          new McpBootstrapError(
            where,
            `the MCP server "${server}" does not exist; correct "server", or add a server or a client with this name`,
          ),
      );
  }

  /** @throws McpBootstrapError for an invalid policy, or two hosts with the same name */
  async load(hosts: readonly McpServerInstance[]): Promise<void> {
    for (const host of hosts) {
      const { name, interceptors } = host.options;
      const where = `McpModule.forRoot({ name: ${JSON.stringify(name)} })`;
      const chain = await this.chainFor(name, interceptors, where);
      host.govern(chain, this.reports);
    }
  }

  /** @throws McpBootstrapError for invalid settings */
  async chainFor(
    name: string,
    { servers, resolveServers, discovery, policyFile, overrides, config }: ChainSettings,
    where: string,
  ): Promise<LocalChainSource> {
    const found = await this.local.interceptors();
    const own = found.filter(({ server }) => server === undefined || server === name);
    const local = own.map(({ entry }) => entry);
    const logger = loggerOf(name);
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
      const beside = new Beside();
      this.besides.push(beside);
      const chain = new MergedChain({
        local,
        hosts: remote.map(one => one.host),
        ...(resolveServers && { hostsFor: this.chooser(resolveServers, host) }),
        policy,
        options: {
          beside,
          observe: this.traffic.turns,
          onSinkEnd: (entry, end) => this.reports.sinkEnded(name, entry, end),
        },
        warn,
      });
      if (file) this.watch(file, logger, read => chain.apply(policyWith(read)));
      return chain;
    } catch (error) {
      throw new McpBootstrapError(where, (error as Error).message);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    for (const file of this.files.splice(0)) file.close();
    await Promise.all(this.besides.splice(0).map(one => one.close()));
    await Promise.all(this.hosts.splice(0).map(one => one.close()));
  }

  private chooser(
    resolveServers: NonNullable<ChainSettings['resolveServers']>,
    options: OpenHostOptions,
  ): HostsFor {
    const pool = new HostPool(options);
    this.hosts.push(pool);
    return async (caller, lease) => {
      const servers = await resolveServers(caller);
      return Promise.all(servers.map(server => pool.get(server, lease)));
    };
  }

  private async open(
    servers: readonly InterceptorServerOptions[],
    options: OpenHostOptions,
  ): Promise<OpenedHost[]> {
    const names = [LOCAL_HOST, ...servers.map(({ name }) => name)];
    const twice = names.find((name, index) => names.indexOf(name) < index);
    if (twice !== undefined) throw new Error(`"interceptors.servers" has two hosts named "${twice}"`);
    const opened = await Promise.all(servers.map(server => openHost(server, options)));
    this.hosts.push(...opened);
    this.remoteHosts.push(...opened.map(({ host }) => host));
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

const loggerOf = (name: string): Logger => new Logger(`McpInterceptors(${name})`);
