import { Injectable } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { McpServers } from '../server/mcp-servers.js';
import type { Chain } from './chain/chain.js';
import type { ChainParams } from './chain/params.js';
import type { ChainResult } from './chain/result.js';
import { isServed, payloadCheck } from './hosts/payload-check.js';
import type { InterceptionEvent } from './payloads.js';
import type { Phase } from './protocol/types.js';
import { InterceptorReports, type ChainReport, type InterceptorCounters } from './reports.js';

/**
 * Options of one run; `config`, `timeoutMs` and the check of what is a payload are the server's own, unless given. The
 * default `direction` is that of the server's own traffic for what it serves (`tools/call` requests are received, its
 * results sent), and for anything else that of a call which the application makes (requests sent, results received).
 */
export interface RunOptions extends Partial<Omit<ChainParams, 'event' | 'phase' | 'payload' | 'simulate'>> {
  /** The server whose chain it is. Default: the first one. */
  server?: string;
}

/** Runs the application's chain for events of the application's own, and tells what chains came to. */
@Injectable()
export class InterceptorChainRunner {
  constructor(
    private readonly servers: McpServers,
    private readonly reports: InterceptorReports,
  ) {}

  /** Every run of every chain, as it ends. */
  get reports$(): Observable<ChainReport> {
    return this.reports.reports$;
  }

  /** How often each interceptor came to each outcome, since the application started. */
  counters(): InterceptorCounters {
    return this.reports.counters();
  }

  /**
   * Runs the chain for any event: `llm/completion`, or one of the application's own.
   * @returns the decision; it does not throw for a payload that was refused
   * @throws Error where there is no such server, `interceptors` names one that does not exist, or a remote host cannot
   *   be listed
   */
  async run(
    event: InterceptionEvent,
    phase: Phase,
    payload: unknown,
    options: RunOptions = {},
  ): Promise<ChainResult> {
    const { chain, params } = await this.prepare(event, phase, payload, options);
    const result = await chain.execute(params);
    const { server, context } = options;
    this.reports.publish({ server, direction: params.direction, result, context });
    return result;
  }

  /**
   * Decides without acting: only interceptors without side effects run, audit ones as audit ones; every mutator's
   * change is told as a JSON Patch, and nothing is reported or counted.
   * @throws Error where there is no such server, `interceptors` names one that does not exist, or a remote host cannot
   *   be listed
   */
  async simulate(
    event: InterceptionEvent,
    phase: Phase,
    payload: unknown,
    options: RunOptions = {},
  ): Promise<ChainResult> {
    const { chain, params } = await this.prepare(event, phase, payload, options);
    return chain.execute({ ...params, simulate: true });
  }

  /** What a server's own traffic is run with, unless the options say otherwise. */
  private async prepare(
    event: InterceptionEvent,
    phase: Phase,
    payload: unknown,
    { server, ...given }: RunOptions,
  ): Promise<{ chain: Chain; params: ChainParams }> {
    const host = this.servers.get(server);
    if (host?.chain === undefined)
      throw new Error(`There is no MCP server ${server === undefined ? '' : `"${server}" `}with a chain`);
    const { timeoutMs } = host.options.interceptors;
    // What the protocol defines comes in here; anything else is something that the application itself asks for.
    const comesIn = isServed(event) === (phase === 'request');
    const params: ChainParams = {
      direction: comesIn ? 'receive' : 'send',
      timeoutMs,
      checkPayload: payloadCheck(event, phase),
      ...given,
      event,
      phase,
      payload,
    };
    const caller = () => ({ context: given.context ?? {}, headers: {} });
    return { chain: await host.chain.current(given.signal, caller), params };
  }
}
