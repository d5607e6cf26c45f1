import { randomUUID } from 'node:crypto';
import { ProtocolError, type Result } from '@modelcontextprotocol/server';
import { unlessAborted } from '../util/abort.js';
import { McpErrorCode } from '../exceptions/mcp.exception.js';
import { callerOf } from '../protocol/caller.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { Call, type AskOptions } from './call.js';
import { invalidState } from '../elicitation/requests/errors.js';
import type { GatewayLimits } from './gateway-options.js';
import { shareOf, tooMany } from './limits.js';

interface OpenRequest {
  readonly method: string;
  readonly params: Params | undefined;
  answer(result: Result): void;
}

/** The most open input requests of one call. */
const MAX_OPEN_REQUESTS = 32;

/**
 * A call of a client of revision 2026-07-28 to a backend of an earlier one. An input request ends the client's round; the
 * call to the backend continues.
 */
class SuspendedCall extends Call {
  private readonly open = new Map<string, OpenRequest>();
  private readonly ending = new AbortController();
  private readonly outcome: Promise<Result>;
  private onRequest?: () => void;

  constructor(exchange: McpCall, start: (call: Call, signal: AbortSignal) => Promise<Result>) {
    super(exchange);
    this.outcome = start(this, this.ending.signal);
    // A failure between two rounds must not be an unhandled rejection.
    this.outcome.catch(() => undefined);
  }

  get inputRequests(): Record<string, object> {
    return Object.fromEntries([...this.open].map(([key, { method, params }]) => [key, { method, params }]));
  }

  /** Returns undefined if the backend asks. An abort of the request gives up the call. */
  async round(exchange: McpCall): Promise<Result | undefined> {
    this.exchange = exchange;
    const { signal } = exchange.reply;
    const onAbort = () => this.giveUp(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    try {
      this.answer(exchange.inputResponses ?? {});
      const asked = new Promise<undefined>(resolve => {
        this.onRequest = () => resolve(undefined);
        if (this.open.size > 0) resolve(undefined);
      });
      const result = await Promise.race([this.outcome, asked]);
      // Input requests that the backend asks at the same time go into one round.
      if (!result) await new Promise(resolve => setImmediate(resolve));
      return result;
    } finally {
      this.onRequest = undefined;
      signal.removeEventListener('abort', onAbort);
    }
  }

  giveUp(reason: unknown): void {
    this.ending.abort(reason);
  }

  override async ask(
    method: string,
    params: Params | undefined,
    { signal = this.ending.signal }: AskOptions,
  ): Promise<Result> {
    if (this.open.size >= MAX_OPEN_REQUESTS) {
      throw new ProtocolError(McpErrorCode.Refused, `At most ${MAX_OPEN_REQUESTS} input requests at a time`);
    }
    const key = randomUUID();
    const ended = AbortSignal.any([signal, this.ending.signal]);
    try {
      ended.throwIfAborted();
      const answered = new Promise<Result>(answer => this.open.set(key, { method, params, answer }));
      this.onRequest?.();
      return await unlessAborted(answered, ended);
    } catch {
      throw new ProtocolError(McpErrorCode.Refused, 'Cancelled');
    } finally {
      this.open.delete(key);
    }
  }

  /** Input requests without an answer are asked again. */
  private answer(responses: Readonly<Record<string, unknown>>): void {
    for (const [key, request] of this.open) {
      if (!Object.hasOwn(responses, key) || responses[key] === undefined) continue;
      this.open.delete(key);
      request.answer(responses[key] as Result);
    }
  }
}

interface Parked {
  readonly call: SuspendedCall;
  readonly caller: string;
  readonly timer: NodeJS.Timeout;
}

/** The calls that wait for their clients' next rounds. A handle is good for one round. */
export class SuspendedCalls {
  private readonly parked = new Map<unknown, Parked>();

  constructor(
    private readonly limits: Pick<Required<GatewayLimits>, 'maxSuspended' | 'suspendedTimeoutMs'>,
  ) {}

  /**
   * @param handle of the call; undefined in the first round
   * @throws McpException (-32602) if no call waits under the handle
   */
  async run(
    handle: unknown,
    exchange: McpCall,
    start: (call: Call, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const call = handle === undefined ? new SuspendedCall(exchange, start) : this.take(handle);
    if (!call) throw invalidState();
    const result = await call.round(exchange);
    if (result) return result;
    const { inputRequests } = call;
    const requestState = this.park(call, callerOf(exchange.authInfo, exchange.http?.request));
    return { resultType: 'input_required', inputRequests, requestState };
  }

  close(): void {
    for (const handle of [...this.parked.keys()]) this.take(handle)?.giveUp('The gateway is closing');
  }

  private park(call: SuspendedCall, caller: string): string {
    const { maxSuspended, suspendedTimeoutMs } = this.limits;
    const own = [...this.parked.values()].filter(one => one.caller === caller).length;
    if (this.parked.size >= maxSuspended || own >= shareOf(maxSuspended)) {
      call.giveUp('Too many calls wait');
      throw tooMany('Too many calls wait for an answer');
    }
    const handle = randomUUID();
    const timer = setTimeout(() => this.take(handle)?.giveUp('No answer came'), suspendedTimeoutMs);
    this.parked.set(handle, { call, caller, timer: timer.unref() });
    return handle;
  }

  private take(handle: unknown): SuspendedCall | undefined {
    const parked = this.parked.get(handle);
    clearTimeout(parked?.timer);
    this.parked.delete(handle);
    return parked?.call;
  }
}
