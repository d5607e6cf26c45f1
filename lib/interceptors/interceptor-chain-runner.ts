import { Injectable } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { McpServers } from '../server/mcp-servers.js';
import type { Chain } from './chain/chain.js';
import type { ChainParams } from './chain/params.js';
import type { ChainResult } from './chain/result.js';
import type { InterceptionEvent } from './payloads.js';
import type { Phase } from './protocol/types.js';
import { InterceptorReports, type ChainReport, type InterceptorCounters } from './reports.js';

/** Options of one run. */
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
   * @throws Error where there is no such server, or `interceptors` names one that does not exist
   */
  async run(
    event: InterceptionEvent,
    phase: Phase,
    payload: unknown,
    options: RunOptions = {},
  ): Promise<ChainResult> {
    const { server, direction = 'send', ...rest } = options;
    const result = await this.chainOf(server).execute({ event, phase, payload, direction, ...rest });
    this.reports.publish({ server, direction, result, context: rest.context });
    return result;
  }

  /**
   * Decides without acting: only interceptors without side effects run, audit ones as audit ones; every mutator's
   * change is told as a JSON Patch, and nothing is reported or counted.
   * @throws Error where there is no such server, or `interceptors` names one that does not exist
   */
  simulate(
    event: InterceptionEvent,
    phase: Phase,
    payload: unknown,
    options: RunOptions = {},
  ): Promise<ChainResult> {
    const { server, direction = 'send', ...rest } = options;
    return this.chainOf(server).execute({ event, phase, payload, direction, ...rest, simulate: true });
  }

  private chainOf(server: string | undefined): Chain {
    const chain = this.servers.get(server)?.chain;
    if (chain === undefined)
      throw new Error(`There is no MCP server ${server === undefined ? '' : `"${server}" `}with a chain`);
    return chain;
  }
}
