import { isInputRequiredResult, type InputRequiredResult, type Result } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../../exceptions/mcp.exception.js';
import type { McpCall, Params, RoundMemory } from '../../protocol/mcp-call.js';
import type { Answer } from '../../protocol/answer.js';
import { toolError } from '../../protocol/tool-result.js';
import { ClientFailed, tooManyRounds } from '../../input/errors.js';
import { RoundEnded } from '../../input/round-ended.js';
import type { PendingRequests } from './pending-requests.js';

/** How long a call that asks for nothing but to be called again is left alone, in milliseconds. */
const PACE_MS = 250;

/**
 * The rounds of a call whose client knows none (2025 era): it is asked by requests of their own, and the call goes on with
 * the answers. The SDK's server does so too, but has no hook where its questions could be counted and refused.
 */
export class LegacyRounds {
  constructor(
    private readonly suspensions: PendingRequests,
    private readonly maxRounds: number,
  ) {}

  /**
   * Calls as often as there is something to ask. An error that the client answers with is a tool's result, as whatever goes
   * wrong while a tool runs; a handler that awaits can catch it.
   * @throws McpException where it is too often, too much at a time, not answered in time, or answered with an error where it
   *   is no tool that asks
   */
  async run(call: McpCall, params: Params, next: Answer): Promise<Result> {
    const memory: RoundMemory = {};
    let current: McpCall = { ...call, memory };
    for (let round = 0; ; round++) {
      const result = await next(current, params);
      if (!isInputRequiredResult(result)) return result;
      if (round === this.maxRounds) throw tooManyRounds(this.maxRounds);
      try {
        const inputResponses = await this.answers(call, result);
        current = { ...call, memory, inputResponses, requestState: result.requestState };
      } catch (error) {
        if (call.reply.signal.aborted) throw new McpException(McpErrorCode.Refused, 'The call was cancelled');
        if (!(error instanceof ClientFailed)) throw error;
        if (call.method === 'tools/call') return toolError(error.message);
        throw new McpException(McpErrorCode.InternalError, error.message);
      }
    }
  }

  private async answers(
    call: McpCall,
    { inputRequests }: InputRequiredResult,
  ): Promise<McpCall['inputResponses']> {
    if (!inputRequests || Object.keys(inputRequests).length === 0) {
      await this.suspensions.pause(call, PACE_MS);
      return undefined;
    }
    const over = new AbortController();
    try {
      return await this.suspensions.askAll(call, inputRequests, over.signal);
    } finally {
      over.abort(new RoundEnded());
    }
  }
}
