import { isInputRequiredResult, type InputRequiredResult, type Result } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../../exceptions/mcp.exception.js';
import type { McpCall, Params, RoundMemory } from '../../protocol/mcp-call.js';
import type { Answer } from '../../protocol/answer.js';
import { toolError } from '../../protocol/tool-result.js';
import { ClientFailed, tooManyRounds } from '../requests/errors.js';
import { RoundEnded } from '../requests/round-ended.js';
import type { PendingRequests } from './pending-requests.js';

/** The delay before a call without input requests is repeated, in milliseconds. */
const PACE_MS = 250;

/**
 * Runs the rounds of a call by sending requests to its client. The SDK can do so for 2025-era clients, but cannot count
 * or refuse input requests.
 */
export class InlineRounds {
  constructor(
    private readonly pendingRequests: PendingRequests,
    private readonly maxRounds: number,
  ) {}

  /**
   * Runs all rounds. A round that ends before the call can ask is the result. If the client answers with an error, a tool
   * returns it as a result.
   * @throws McpException for too many rounds or input requests
   */
  async run(call: McpCall, params: Params, next: Answer): Promise<Result> {
    const memory: RoundMemory | undefined = call.memory ?? (call.reply.ask && {});
    // Not by a spread, because V8 takes microseconds for each property after it.
    let current: McpCall = Object.assign({}, call, { memory });
    for (let round = 0; ; round++) {
      const result = await next(current, params);
      if (!isInputRequiredResult(result) || !call.reply.ask) return result;
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
      await this.pendingRequests.pause(call, PACE_MS);
      return undefined;
    }
    const over = new AbortController();
    try {
      return await this.pendingRequests.askAll(call, inputRequests, over.signal);
    } finally {
      over.abort(new RoundEnded());
    }
  }
}
