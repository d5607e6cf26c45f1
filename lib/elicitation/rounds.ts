import {
  isInputRequiredResult,
  MissingRequiredClientCapabilityError,
  type InputRequiredResult,
  type Result,
} from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { Answer, Stage } from '../protocol/answer.js';
import type { McpCall, Params, RoundMemory } from '../protocol/mcp-call.js';
import { toolError } from '../protocol/tool-result.js';
import { ClientFailed, tooManyRounds, UnsupportedInput } from './requests/errors.js';
import { RoundEnded } from './requests/round-ended.js';
import { PendingRequests } from './live/pending-requests.js';
import type { MrtrSettings } from './mrtr-options.js';
import type { CurrentRound } from './replay/current-round.js';
import type { AskingHandler, RoundEngine, RoundResult, RoundTraffic } from './round-engine.js';

/** The delay before a call without input requests is repeated, in milliseconds. */
const PACE_MS = 250;

/** Runs handlers that ask their client, one round at a time, on any node. */
export class Rounds {
  readonly pendingRequests: PendingRequests;
  private loading?: Promise<RoundEngine>;
  private engine?: RoundEngine;

  /** @param server the server's name, which is part of each state */
  constructor(
    private readonly server: string,
    private readonly settings: MrtrSettings,
    readonly traffic?: RoundTraffic,
  ) {
    this.pendingRequests = new PendingRequests(settings.suspension);
  }

  /** Loads the engine. Otherwise, the first call of a handler that can ask loads it. */
  load(): Promise<RoundEngine> {
    return (this.loading ??= import('./round-engine.js').then(
      ({ RoundEngine: Engine }) =>
        (this.engine = new Engine(this.server, this.settings, this.pendingRequests, this.traffic)),
    ));
  }

  /**
   * Runs one round of a handler. @throws McpException (-32602) for another call's `requestState`, MrtrError for a
   * mistake of the handler
   */
  run<T>(
    handler: AskingHandler,
    call: McpCall,
    work: (current: CurrentRound, call: McpCall) => Promise<T>,
  ): Promise<RoundResult<T>> {
    const { engine } = this;
    if (engine) return engine.run(handler, call, work);
    return this.load().then(loaded => loaded.run(handler, call, work));
  }

  /** Runs all rounds of a call for a client without rounds (2025 era). */
  readonly legacyRounds: Stage = next => (call, params) => {
    return call.reply.ask ? this.runAll(call, params, next) : withoutAsking(call, params, next);
  };

  /** Runs the rounds of a call that may become able to ask while it runs. Its earlier rounds go to the client. */
  readonly inline: Stage = next => (call, params) => this.runAll(call, params, next);

  /** Waits up to `timeoutMs` milliseconds for handlers that outlast their calls. */
  async ended(timeoutMs: number): Promise<void> {
    await this.engine?.ended(timeoutMs);
  }

  /**
   * Runs the rounds of a call by sending requests to its client. A round that ends before the call can ask is the result.
   * If the client answers with an error, a tool returns it as a result. The SDK can do so for 2025-era clients, but cannot
   * count or refuse input requests.
   * @throws McpException for too many rounds or input requests
   */
  private async runAll(call: McpCall, params: Params, next: Answer): Promise<Result> {
    const { maxRounds } = this.settings;
    const memory: RoundMemory | undefined = call.memory ?? (call.reply.ask && {});
    // Not by a spread, because V8 takes microseconds for each property after it.
    let current = call.memory ? call : Object.assign({}, call, { memory });
    for (let round = 0; ; round++) {
      const result = await next(current, params);
      if (!isInputRequiredResult(result) || !call.reply.ask) return result;
      if (round === maxRounds) throw tooManyRounds(maxRounds);
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
    { inputRequests = {} }: InputRequiredResult,
  ): Promise<McpCall['inputResponses']> {
    if (Object.keys(inputRequests).length === 0) {
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

/**
 * Runs a call that cannot ask. A client without a session cannot declare capabilities, so a gateway's backend may
 * refuse the call for lack of them.
 */
async function withoutAsking(call: McpCall, params: Params, next: Answer): Promise<Result> {
  try {
    return await next(call, params);
  } catch (error) {
    if (!(error instanceof MissingRequiredClientCapabilityError)) throw error;
    const { message } = new UnsupportedInput();
    if (call.method === 'tools/call') return toolError(message);
    throw new McpException(McpErrorCode.Refused, message);
  }
}
