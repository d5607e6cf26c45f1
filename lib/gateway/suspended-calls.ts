import { createHash, randomUUID } from 'node:crypto';
import type { Result } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { callerOf } from '../server/caller.js';
import type { DispatchedMethod, Params } from '../server/dispatcher.js';
import type { Exchange } from '../server/exchange.js';
import { invalidState } from './caller-states.js';
import { shareOf } from './connection-pool.js';
import { SuspendedCall } from './suspended-call.js';

/** Bounds on calls that wait for their client's next round. */
export interface SuspensionLimits {
  /** The most of them. */
  readonly max: number;
  /** How long one waits, in milliseconds. */
  readonly idleTimeoutMs: number;
}

interface Parked {
  readonly call: SuspendedCall;
  /** Whose it is and what was called: nobody else goes on with it, nor with anything else. */
  readonly owner: string;
  readonly caller: string;
  readonly timer: NodeJS.Timeout;
}

/** The calls that wait for their clients' next rounds. Each has a handle, which is good for one round. */
export class SuspendedCalls {
  private readonly parked = new Map<string, Parked>();

  constructor(private readonly limits: SuspensionLimits) {}

  /**
   * Runs one round of a call.
   * @param start starts the call where it is the first one
   * @throws McpException (-32602) for a state that is none of a call that waits; whatever the call ends with
   */
  async run(
    method: DispatchedMethod,
    params: Params,
    exchange: Exchange,
    start: (call: SuspendedCall) => Promise<Result>,
  ): Promise<Result> {
    const caller = callerOf(exchange.authInfo, exchange.http?.request);
    const owner = ownerOf(caller, method, params);
    const call = this.take(owner, exchange) ?? new SuspendedCall(exchange);
    if (exchange.requestState() === undefined) call.start(() => start(call));
    const round = await call.round(exchange);
    if ('result' in round) return round.result;
    return {
      resultType: 'input_required',
      inputRequests: round.inputRequests,
      requestState: this.park(call, owner, caller),
    };
  }

  close(): void {
    for (const handle of [...this.parked.keys()]) this.forget(handle)?.call.giveUp('The gateway is closing');
  }

  private take(owner: string, exchange: Exchange): SuspendedCall | undefined {
    const handle = exchange.requestState<unknown>();
    if (handle === undefined) return undefined;
    const parked = typeof handle === 'string' ? this.parked.get(handle) : undefined;
    if (parked?.owner !== owner) {
      throw invalidState();
    }
    this.forget(handle as string);
    return parked.call;
  }

  private park(call: SuspendedCall, owner: string, caller: string): string {
    const { max, idleTimeoutMs } = this.limits;
    const own = [...this.parked.values()].filter(one => one.caller === caller).length;
    if (this.parked.size >= max || own >= shareOf(max)) {
      call.giveUp('Too many calls wait');
      throw new McpException(McpErrorCode.Refused, 'Too many calls wait for an answer; try again later');
    }
    const handle = randomUUID();
    const timer = setTimeout(() => this.forget(handle)?.call.giveUp('No answer came'), idleTimeoutMs);
    this.parked.set(handle, { call, owner, caller, timer: timer.unref() });
    return handle;
  }

  private forget(handle: string): Parked | undefined {
    const parked = this.parked.get(handle);
    clearTimeout(parked?.timer);
    this.parked.delete(handle);
    return parked;
  }
}

function ownerOf(caller: string, method: string, { _meta: _, ...params }: Params): string {
  const digest = createHash('sha256').update(JSON.stringify(params)).digest('base64url');
  return JSON.stringify([caller, method, digest]);
}
