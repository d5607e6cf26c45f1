import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type InputRequest,
  ProtocolError,
  type Result,
  SdkError,
  SdkErrorCode,
} from '@modelcontextprotocol/server';
import { CallerLimit, limitKeyIn, LimitReached } from '../../protocol/caller-limit.js';
import { McpErrorCode, McpException } from '../../exceptions/mcp.exception.js';
import type { McpCall } from '../../protocol/mcp-call.js';
import { assertDeclared, ClientFailed, UnsupportedInput } from '../requests/errors.js';
import type { MrtrSettings } from '../mrtr-options.js';

interface Asked {
  readonly key: string;
  readonly request: InputRequest;
  readonly over: AbortSignal;
  readonly resolve: (answer: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Asks clients while their calls wait. It counts the input requests, because each keeps a call in memory. */
export class PendingRequests {
  private readonly perSession = new Map<unknown, number>();
  readonly limit: CallerLimit;

  constructor(private readonly options: MrtrSettings['suspension']) {
    const { maxTotal: max, maxPerCaller } = options;
    this.limit = new CallerLimit('calls wait for an answer', { max, maxPerCaller });
  }

  get size(): number {
    return this.limit.size;
  }

  /**
   * Asks all input requests on the stream of the call, or none if one of them cannot be asked. @throws McpException,
   * ClientFailed
   */
  async askAll(
    call: McpCall,
    requests: Readonly<Record<string, InputRequest>>,
    over: AbortSignal,
  ): Promise<Record<string, Result>> {
    const ask = this.asker(call);
    const answers = Object.entries(requests).map(
      async ([key, request]) => [key, await ask(key, request, over)] as const,
    );
    return Object.fromEntries(await Promise.all(answers));
  }

  /** Like `askAll`, for all input requests of the same turn of the event loop. */
  asker(call: McpCall): (key: string, request: InputRequest, over: AbortSignal) => Promise<Result> {
    let batch: Asked[] = [];
    const askBatch = () => {
      const asked = batch;
      batch = [];
      const requests = asked.map(({ request }) => request);
      try {
        if (!call.reply.ask) throw new UnsupportedInput();
        assertDeclared(requests, call.clientCapabilities);
        this.take(call, requests.length);
      } catch (error) {
        for (const { reject } of asked) reject(error);
        return;
      }
      for (const one of asked) this.send(call, one).then(one.resolve, one.reject);
    };
    return (key, request, over) =>
      new Promise((resolve, reject) => {
        if (batch.push({ key, request, over, resolve, reject }) === 1) setImmediate(askBatch);
      });
  }

  /** @throws McpException for too many waiting calls, or the signal's reason */
  async pause(call: McpCall, ms: number): Promise<void> {
    this.take(call, 1);
    try {
      await pause(ms, undefined, { signal: call.reply.signal });
    } finally {
      this.release(call);
    }
  }

  private async send(call: McpCall, { key, request, over }: Asked): Promise<Result> {
    const signal = AbortSignal.any([call.reply.signal, over]);
    try {
      const params = call.era === 'legacy' ? paramsOf(request) : request.params;
      return await call.reply.ask!(request.method, params, {
        key,
        signal,
        timeout: this.options.idleTimeoutMs,
        resetTimeoutOnProgress: true,
        // Makes the SDK add a progress token to the request.
        onprogress: () => undefined,
      });
    } catch (error) {
      if (call.reply.signal.aborted) throw call.reply.signal.reason;
      if (error instanceof ProtocolError) throw new ClientFailed(error);
      if (signal.aborted || !isTimeout(error)) throw error;
      throw new McpException(McpErrorCode.Refused, 'The client did not answer in time');
    } finally {
      this.release(call);
    }
  }

  private take(call: McpCall, count: number): void {
    const session = sessionOf(call);
    const own = (this.perSession.get(session) ?? 0) + count;
    if (own > this.options.maxPerSession) {
      throw new LimitReached(429, 'Too many calls wait for an answer; try again later');
    }
    const reached = this.limit.take(limitKeyIn(call), count);
    if (reached) throw reached;
    this.perSession.set(session, own);
  }

  private release(call: McpCall): void {
    this.limit.release(limitKeyIn(call));
    const session = sessionOf(call);
    const left = this.perSession.get(session)! - 1;
    if (left === 0) this.perSession.delete(session);
    else this.perSession.set(session, left);
  }
}

/** What `maxPerSession` counts for. Without sessions, each call counts for itself. */
const sessionOf = ({ era, sessionId, reply }: McpCall): unknown => (era === 'legacy' ? sessionId : reply);

const isTimeout = (error: unknown): boolean =>
  error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;

/** The 2025 revisions need an id for a page to visit. */
function paramsOf({ params }: InputRequest): Readonly<Record<string, unknown>> | undefined {
  const isUrl = (params as { mode?: unknown } | undefined)?.mode === 'url';
  return isUrl ? { ...params, elicitationId: randomUUID() } : params;
}

/** Asks the client while the handler waits, in as many rounds as a call may have. */
export class LiveAsker {
  private begun: number;
  private open = 0;
  private refusal?: Error;

  /**
   * @param rounds the number of ended rounds
   * @param tooMany makes the error for an input request past the last round; called once
   */
  constructor(
    public rounds: number,
    private readonly maxRounds: number,
    private readonly tooMany: (key: string, round: number) => Error,
    private readonly send: (key: string, request: InputRequest, over: AbortSignal) => Promise<unknown>,
  ) {
    this.begun = rounds;
  }

  async ask(key: string, request: InputRequest, over: AbortSignal): Promise<unknown> {
    // Input requests that are open together belong to one round.
    if (this.open === 0) {
      if (this.begun >= this.maxRounds) throw (this.refusal ??= this.tooMany(key, this.begun + 1));
      this.begun++;
    }
    this.open++;
    try {
      const answer = await this.send(key, request, over);
      this.rounds = this.begun;
      return answer;
    } finally {
      this.open--;
    }
  }
}
