import { Injectable } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { McpServers } from './mcp-servers.js';
import type { ChainParams } from '../interceptors/chain/params.js';
import type { ChainResult } from '../interceptors/chain/result.js';
import { executeIn } from '../interceptors/merged-chain.js';
import { answerCheck, isServed, payloadCheck } from '../interceptors/messages/payload-check.js';
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

  /** Applies the same defaults as a server's own traffic. One deadline covers the whole run. */
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
    const host = this.servers.get(server);
    if (host?.chain === undefined)
      throw new Error(
        `The application has no MCP server ${server === undefined ? '' : `"${server}" `}with a chain; correct "server", or wait until the application has started`,
      );
    // Requests of the protocol arrive at the server. Other events are requests that the application sends.
    const comesIn = isServed(event) === (phase === 'request');
    const params = {
      direction: comesIn ? 'receive' : 'send',
      checkPayload: payloadCheck(event, phase),
      checkResponse: answerCheck(event),
      ...given,
      timeoutMs: given.timeoutMs ?? host.options.interceptors.timeoutMs,
      event,
      phase,
      payload,
      simulate,
    } satisfies ChainParams;
    return { result: await executeIn(host.chain, params), direction: params.direction };
  }
}
