import { Injectable, Logger } from '@nestjs/common';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { McpServerHost } from '../server/mcp-server-host.js';
import { Chain } from './chain/chain.js';
import type { ChainEntry, InterceptorOverrides } from './chain/entry.js';
import { LocalHost } from './hosts/local-host.js';
import type { InterceptorOverride } from './interceptor-options.js';
import { lint } from './lint.js';
import { readHooks } from './protocol/read-descriptor.js';
import { InterceptorReports } from './reports.js';

/** Builds each server's chain, once, while the application starts. */
@Injectable()
export class InterceptorLoader {
  private readonly logger = new Logger('McpInterceptors');

  constructor(
    private readonly local: LocalHost,
    private readonly reports: InterceptorReports,
  ) {}

  /** @throws McpBootstrapError for an interceptor or an override that cannot be */
  async load(hosts: readonly McpServerHost[]): Promise<void> {
    const found = await this.local.interceptors();
    for (const { server, where } of found) {
      if (server !== undefined && !hosts.some(({ options }) => options.name === server)) {
        throw new McpBootstrapError(where, `there is no MCP server "${server}"`);
      }
    }
    for (const host of hosts) {
      const { name } = host.options;
      const own = found.filter(({ server }) => server === undefined || server === name);
      const entries = this.withOverrides(
        host,
        own.map(({ entry }) => entry),
      );
      for (const remark of lint(entries)) this.logger.warn(remark);
      host.govern(this.chainOf(host, entries), entries, this.reports);
    }
  }

  private chainOf({ options }: McpServerHost, entries: readonly ChainEntry[]): Chain {
    try {
      return new Chain(entries, {
        onSinkError: ({ name }, error) => this.reports.sinkFailed(name, error),
      });
    } catch (error) {
      throw new McpBootstrapError(whereOf(options.name), (error as Error).message);
    }
  }

  private withOverrides({ options }: McpServerHost, entries: readonly ChainEntry[]): ChainEntry[] {
    const { overrides, config } = options.interceptors;
    const used = new Set<string>();
    const all = entries.map(entry => {
      const { descriptor, host, checkConfig } = entry;
      const key = [`${host}/${descriptor.name}`, descriptor.name].find(one => Object.hasOwn(overrides, one));
      if (key === undefined) return entry;
      used.add(key);
      const override = overrideOf(overrides[key]);
      const problem = override.config && checkConfig?.(override.config);
      if (problem !== undefined) {
        throw new McpBootstrapError(
          whereOf(options.name),
          `the configuration of "${key}" is invalid: ${problem}`,
        );
      }
      return { ...entry, overrides: override };
    });
    const known = new Set(entries.map(({ descriptor }) => descriptor.name));
    const unknown = [
      ...Object.keys(overrides).filter(key => !used.has(key)),
      ...Object.keys(config).filter(key => !known.has(key)),
    ];
    if (unknown.length === 0) return all;
    throw new McpBootstrapError(
      whereOf(options.name),
      `"interceptors" names "${unknown[0]}", which is no interceptor of this server; there are ${[...known].join(', ') || 'none'}`,
    );
  }
}

const whereOf = (name: string): string => `McpModule.forRoot({ name: ${JSON.stringify(name)} })`;

function overrideOf({
  failOpen,
  priority,
  mode,
  timeoutMs,
  hooks,
  config,
}: InterceptorOverride): InterceptorOverrides {
  return {
    ...(failOpen !== undefined && { failOpen }),
    ...(priority !== undefined && { priorityHint: priority }),
    ...(mode !== undefined && { mode: mode === 'audit' ? 'audit' : 'active' }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(hooks && { hooks: readHooks(hooks) }),
    ...(config && { config }),
  };
}
