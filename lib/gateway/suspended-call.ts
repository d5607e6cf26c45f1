import { randomUUID } from 'node:crypto';
import { ProtocolError, type Result } from '@modelcontextprotocol/server';
import { unlessAborted } from '../client/unless-aborted.js';
import { McpErrorCode } from '../exceptions/mcp.exception.js';
import type { Params } from '../server/dispatcher.js';
import type { Exchange } from '../server/exchange.js';
import { Call, type AskOptions } from './call.js';

interface Question {
  readonly method: string;
  readonly params: Params | undefined;
  answer(result: Result): void;
}

/** How a round ended: with the backend's answer, or with questions for the client. */
export type Round = { readonly result: Result } | { readonly inputRequests: Record<string, object> };

/**
 * A call of a 2026-era client to a 2025-era backend. A question of the backend ends the client's round
 * (`input_required`), and the client's next round brings the answer. The call to the backend goes on all the while.
 */
export class SuspendedCall extends Call {
  private readonly questions = new Map<string, Question>();
  private readonly ending = new AbortController();
  private outcome!: Promise<Result>;
  private onQuestion?: () => void;

  /** Fires when the call to the backend is given up. */
  get signal(): AbortSignal {
    return this.ending.signal;
  }

  /** @param work calls the backend */
  start(work: () => Promise<Result>): void {
    this.outcome = work();
    // Nobody waits for it between two rounds.
    this.outcome.catch(() => undefined);
  }

  /** Runs until the backend answers or asks. An abort of the request gives up the call. */
  async round(exchange: Exchange): Promise<Round> {
    this.exchange = exchange;
    const { signal } = exchange;
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
      // Questions that the backend asks at the same time go into one round.
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

  override async ask(
    method: string,
    params: Params | undefined,
    { signal = this.signal }: AskOptions,
  ): Promise<Result> {
    if (this.questions.size >= MAX_QUESTIONS) {
      throw new ProtocolError(McpErrorCode.Refused, `At most ${MAX_QUESTIONS} questions at a time`);
    }
    const key = randomUUID();
    const ended = AbortSignal.any([signal, this.signal]);
    try {
      ended.throwIfAborted();
      const answered = new Promise<Result>(answer => this.questions.set(key, { method, params, answer }));
      this.onQuestion?.();
      return await unlessAborted(answered, ended);
    } catch {
      throw new ProtocolError(McpErrorCode.Refused, 'Cancelled');
    } finally {
      this.questions.delete(key);
    }
  }

  /** Questions without an answer are asked again. */
  private answer(responses: Readonly<Record<string, unknown>>): void {
    for (const [key, question] of this.questions) {
      if (!Object.hasOwn(responses, key) || responses[key] === undefined) continue;
      this.questions.delete(key);
      question.answer(responses[key] as Result);
    }
  }
}

/** The most questions that a backend may ask at the same time during one call. */
const MAX_QUESTIONS = 32;
