import { randomUUID } from 'node:crypto';
import { SdkError, SdkErrorCode, type InputRequest, type Result } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { Exchange } from '../server/exchange.js';
import type { MrtrSettings } from './mrtr-options.js';
import { assertDeclared, unsupported } from './refusals.js';

/** Asks 2025-era clients while their calls wait, and counts the questions: each keeps a call in memory. */
export class Suspensions {
  private total = 0;
  private readonly perSession = new Map<unknown, number>();

  constructor(private readonly limits: MrtrSettings['suspension']) {}

  /** How many questions are open. */
  get size(): number {
    return this.total;
  }

  /**
   * Asks the client on the stream of its own call.
   * @param over ends the question where nobody waits for its answer any more
   * @throws McpException where too many are open, or no answer comes in time; MissingRequiredClientCapabilityError;
   *   whatever the client answers that is an error
   */
  async ask(exchange: Exchange, request: InputRequest, over: AbortSignal): Promise<Result> {
    const { ask, sessionId, clientCapabilities } = exchange;
    if (!ask) throw unsupported();
    assertDeclared([request], clientCapabilities);
    const signal = AbortSignal.any([exchange.signal, over]);
    try {
      return await this.during(sessionId, () =>
        ask(request.method, paramsOf(request), {
          signal,
          timeout: this.limits.idleTimeoutMs,
          resetTimeoutOnProgress: true,
          // Without it, there would be no token for progress to refer to.
          onprogress: () => undefined,
        }),
      );
    } catch (error) {
      if (exchange.signal.aborted) throw exchange.signal.reason;
      if (signal.aborted || !isTimeout(error)) throw error;
      throw new McpException(McpErrorCode.Refused, 'The client did not answer in time');
    }
  }

  private async during<T>(session: unknown, work: () => Promise<T>): Promise<T> {
    const own = this.perSession.get(session) ?? 0;
    const { maxPerSession, maxTotal } = this.limits;
    if (own >= maxPerSession || this.total >= maxTotal) {
      throw new McpException(McpErrorCode.Refused, 'Too many calls wait for an answer; try again later');
    }
    this.total++;
    this.perSession.set(session, own + 1);
    try {
      return await work();
    } finally {
      this.total--;
      const left = this.perSession.get(session)! - 1;
      if (left === 0) this.perSession.delete(session);
      else this.perSession.set(session, left);
    }
  }
}

const isTimeout = (error: unknown): boolean =>
  error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;

/** The 2025 revisions give a page that a user is sent to an id, which 2026-07-28 has no use for. */
function paramsOf({ params }: InputRequest): Readonly<Record<string, unknown>> | undefined {
  const isUrl = (params as { mode?: unknown } | undefined)?.mode === 'url';
  return isUrl ? { ...params, elicitationId: randomUUID() } : params;
}
