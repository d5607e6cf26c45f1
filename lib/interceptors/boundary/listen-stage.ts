import type { Stage } from '../../protocol/answer.js';
import type { McpCall } from '../../protocol/mcp-call.js';
import { listenedUris } from '../../protocol/params.js';
import { timeLimit, unlessAborted } from '../../util/abort.js';
import { timedOut } from './run-phase.js';

/**
 * Decides on all resources of a `subscriptions/listen`, with the deadline of one message.
 * @param admit decides on one resource
 * @throws McpException (-32000) after the deadline, or with the refusal of an interceptor
 */
export const listenStage =
  (timeoutMs: number, admit: (uri: string, call: McpCall) => Promise<void>): Stage =>
  next =>
  async (call, params) => {
    const time = timeLimit(timeoutMs, () => timedOut({ timeoutMs, phase: 'request' }));
    const signal = AbortSignal.any([call.reply.signal, time.signal]);
    const timed = { ...call, reply: { ...call.reply, signal } };
    try {
      // In sequence, because hosts may limit parallel requests.
      for (const uri of listenedUris(params)) {
        signal.throwIfAborted();
        await unlessAborted(admit(uri, timed), signal);
      }
    } catch (error) {
      // The abort may have caused the error, so the signal's reason is thrown instead.
      signal.throwIfAborted();
      throw error;
    } finally {
      time.clear();
    }
    return next(call, params);
  };
