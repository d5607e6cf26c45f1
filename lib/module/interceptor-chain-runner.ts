import { Injectable } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { InterceptorLoader } from './interceptor-loader.js';
import { McpServers } from './mcp-servers.js';
import type { ChainResult } from '../interceptors/chain/result.js';
import type { InterceptionEvent } from '../interceptors/payloads.js';
import type { Direction, Phase } from '../interceptors/protocol/types.js';
import { InterceptorReports, type ChainReport, type InterceptorCounters } from '../interceptors/reports.js';
import type { RunOptions } from '../interceptors/chain-source.js';

/**
 * Runs the application's chain for the application's own events, and reports the outcome of all chains.
 * @example
 * ```ts
 * const { status, finalPayload } = await this.chain.run('llm/completion', 'request', { question });
 * ```
 */
@Injectable()
export class InterceptorChainRunner {
  /** @internal Nest creates it. */
  constructor(
    private readonly servers: McpServers,
    private readonly reports: InterceptorReports,
    private readonly interceptors: InterceptorLoader,
  ) {}

  /** Emits every run of every chain when it ends. */
  get reports$(): Observable<ChainReport> {
    return this.reports.reports$;
  }

  /** The number of outcomes of each interceptor since the application started, by outcome. */
  counters(): InterceptorCounters {
    return this.reports.counters();
  }

  /**
   * Runs the chain for any event, such as `llm/completion`.
   * @returns the decision, also for a refused payload
   * @throws Error for an unknown server or interceptor, or a remote host that cannot be listed
   */
  async run(
    event: InterceptionEvent,
    phase: Phase,
    payload: unknown,
    options: RunOptions = {},
  ): Promise<ChainResult> {
    const { result, direction } = await this.execute(event, phase, payload, options);
    const { server, context } = options;
    this.reports.publish({ server, direction, result, context });
    return result;
  }

  /**
   * Decides without acting: runs only interceptors without side effects, returns each change as a JSON Patch, and
   * reports nothing.
   * @throws Error for an unknown server or interceptor, or a remote host that cannot be listed
   */
  async simulate(
    event: InterceptionEvent,
    phase: Phase,
    payload: unknown,
    options: RunOptions = {},
  ): Promise<ChainResult> {
    return (await this.execute(event, phase, payload, options, true)).result;
  }

  private async execute(
    event: InterceptionEvent,
    phase: Phase,
    payload: unknown,
    { server, ...given }: RunOptions,
    simulate = false,
  ): Promise<{ result: ChainResult; direction: Direction }> {
    if (phase !== 'request' && phase !== 'response') {
      throw new TypeError(`The phase is "request" or "response", not ${JSON.stringify(phase)}`);
    }
    const host = this.servers.started ? this.servers.get(server) : undefined;
    if (!host)
      throw new Error(
        `The application has no MCP server ${server === undefined ? '' : `"${server}" `}with a chain; correct "server", or wait until the application has started`,
      );
    const chain = await this.interceptors.chainOf(host.options);
    const { runChain } = await import('../interceptors/merged-chain.js');
    const { timeoutMs = host.options.interceptors.timeoutMs } = given;
    return runChain(chain, event, phase, { ...given, timeoutMs, payload, simulate });
  }
}
