import { randomUUID } from 'node:crypto';
import { ProtocolError, type Result } from '@modelcontextprotocol/server';
import { McpErrorCode } from '../exceptions/mcp.exception.js';
import type { Params } from '../protocol/mcp-call.js';
import type { McpCall } from '../protocol/mcp-call.js';
import { Call, type AskOptions } from './call.js';

interface Question {
  readonly method: string;
  readonly params: Params | undefined;
  answer(result: Result): void;
}

/** What a round came to: the backend's answer, or questions for the client. */
export type Round = { readonly result: Result } | { readonly inputRequests: Record<string, object> };

/**
 * A call of a 2026-era client that a 2025-era backend works on. What the backend asks meanwhile ends a round of the client
 * (`input_required`), and the client's next round brings the answers: the call to the backend goes on all the while.
 */
export class SuspendedCall extends Call {
  private readonly questions = new Map<string, Question>();
  private readonly ending = new AbortController();
  private outcome!: Promise<Result>;
  private onQuestion?: () => void;

  /** Fires when the call to the backend is to be given up. */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /** @param work calls the backend */
  start(work: () => Promise<Result>): void {
    this.outcome = work();
    // Between two rounds nobody waits for it.
    this.outcome.catch(() => undefined);
  }

  /** Runs until the backend answers or asks, on behalf of the request that waits for it now. */
  async round(exchange: McpCall): Promise<Round> {
    this.exchange = exchange;
    const { signal } = exchange.reply;
    const onAbort = () => this.giveUp(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    try {
      this.answer(exchange.inputResponses ?? {});
      const asked = new Promise<undefined>(resolve => {
        this.onQuestion = () => resolve(undefined);
        if (this.questions.size > 0) resolve(undefined);
      });
      const result = await Promise.race([this.outcome, asked]);
      if (result !== undefined) return { result };
      // What a backend asks at the same time is one round.
      await new Promise(resolve => setImmediate(resolve));
      const asking = [...this.questions].map(([key, { method, params }]) => [key, { method, params }]);
      return { inputRequests: Object.fromEntries(asking) as Record<string, object> };
    } finally {
      this.onQuestion = undefined;
      signal.removeEventListener('abort', onAbort);
    }
  }

  giveUp(reason: unknown): void {
    this.ending.abort(reason);
  }

  override ask(method: string, params: Params | undefined, { signal }: AskOptions): Promise<Result> {
    const ended = signal ? AbortSignal.any([signal, this.signal]) : this.signal;
    const refused = (why: string) => new ProtocolError(McpErrorCode.Refused, why);
    if (ended.aborted) return Promise.reject(refused('Cancelled'));
    if (this.questions.size >= MAX_QUESTIONS) {
      return Promise.reject(refused(`At most ${MAX_QUESTIONS} questions at a time`));
    }
    const key = randomUUID();
    return new Promise((resolve, reject) => {
      const onEnd = () => {
        this.questions.delete(key);
        reject(refused('Cancelled'));
      };
      ended.addEventListener('abort', onEnd, { once: true });
      const answer = (result: Result) => {
        ended.removeEventListener('abort', onEnd);
        resolve(result);
      };
      this.questions.set(key, { method, params, answer });
      this.onQuestion?.();
    });
  }

  /** Questions without an answer are asked again. */
  private answer(responses: Readonly<Record<string, unknown>>): void {
    for (const [key, question] of this.questions) {
      const response = Object.hasOwn(responses, key) ? responses[key] : undefined;
      if (response === undefined) continue;
      this.questions.delete(key);
      question.answer(response as Result);
    }
  }
}

/** The most questions that a backend may ask at a time during one call. */
const MAX_QUESTIONS = 32;
