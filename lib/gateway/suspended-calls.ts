import { randomUUID } from 'node:crypto';
import type { Result } from '@modelcontextprotocol/server';
import { callerOf } from '../server/caller.js';
import type { Exchange } from '../server/exchange.js';
import { invalidState } from './caller-states.js';
import { shareOf, tooMany } from './limits.js';
import { SuspendedCall } from './suspended-call.js';

/** Bounds on calls that wait for their client's next round. */
export interface SuspensionLimits {
  readonly maxSuspended: number;
  /** How long a call waits, in milliseconds. */
  readonly suspendedTimeoutMs: number;
}

interface Parked {
  readonly call: SuspendedCall;
  readonly caller: string;
  readonly timer: NodeJS.Timeout;
}

/** The calls that wait for their clients' next rounds. Each has a handle, which is good for one round. */
export class SuspendedCalls {
  private readonly parked = new Map<unknown, Parked>();

  constructor(private readonly limits: SuspensionLimits) {}

  /**
   * Runs one round of a call.
   * @param handle of the call; undefined in the first round
   * @param start starts the call in the first round
   * @throws McpException (-32602) for a handle of no waiting call; whatever the call throws
   */
  async run(
    handle: unknown,
    exchange: Exchange,
    start: (call: SuspendedCall) => Promise<Result>,
  ): Promise<Result> {
    const call = handle === undefined ? new SuspendedCall(exchange) : this.take(handle)?.call;
    if (!call) throw invalidState();
    if (handle === undefined) call.start(() => start(call));
    const round = await call.round(exchange);
    if ('result' in round) return round.result;
    const requestState = this.park(call, callerOf(exchange.authInfo, exchange.http?.request));
    return { resultType: 'input_required', inputRequests: round.inputRequests, requestState };
  }

  close(): void {
    for (const handle of [...this.parked.keys()]) this.take(handle)?.call.giveUp('The gateway is closing');
  }

  private park(call: SuspendedCall, caller: string): string {
    const { maxSuspended, suspendedTimeoutMs } = this.limits;
    const own = [...this.parked.values()].filter(one => one.caller === caller).length;
    if (this.parked.size >= maxSuspended || own >= shareOf(maxSuspended)) {
      call.giveUp('Too many calls wait');
      throw tooMany('Too many calls wait for an answer');
    }
    const handle = randomUUID();
    const timer = setTimeout(() => this.take(handle)?.call.giveUp('No answer came'), suspendedTimeoutMs);
    this.parked.set(handle, { call, caller, timer: timer.unref() });
    return handle;
  }

  private take(handle: unknown): Parked | undefined {
    const parked = this.parked.get(handle);
    clearTimeout(parked?.timer);
    this.parked.delete(handle);
    return parked;
  }
}
