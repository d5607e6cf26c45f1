import { MissingRequiredClientCapabilityError, type Result } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { UnsupportedInput } from './requests/errors.js';
import type { Answer, Stage } from '../protocol/answer.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { toolError } from '../protocol/tool-result.js';
import { InlineRounds } from './live/inline-rounds.js';
import { PendingRequests } from './live/pending-requests.js';
import type { MrtrSettings } from './mrtr-options.js';
import type { CurrentRound } from './replay/current-round.js';
import type { AskingHandler, RoundEngine, RoundObserver, RoundResult } from './round-engine.js';

/** Runs handlers that ask their client, one round at a time, on any node. */
export class Rounds implements RoundObserver {
  readonly pendingRequests: PendingRequests;
  private readonly inlineRounds: InlineRounds;
  private loading?: Promise<RoundEngine>;
  private engine?: RoundEngine;

  /** @param server the server's name, which is part of each state */
  constructor(
    private readonly server: string,
    private readonly settings: MrtrSettings,
    readonly traffic?: RoundObserver['traffic'],
  ) {
    this.pendingRequests = new PendingRequests(settings.suspension);
    this.inlineRounds = new InlineRounds(this.pendingRequests, settings.maxRounds);
  }

  /** Loads the engine. Otherwise, the first call of a handler that can ask loads it. */
  load(): Promise<RoundEngine> {
    return (this.loading ??= import('./round-engine.js').then(
      ({ RoundEngine: Engine }) =>
        (this.engine = new Engine(this.server, this.settings, this.pendingRequests, this)),
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
    return call.reply.ask ? this.inlineRounds.run(call, params, next) : withoutAsking(call, params, next);
  };

  /** Runs the rounds of a call that may become able to ask while it runs. Its earlier rounds go to the client. */
  readonly inline: Stage = next => (call, params) => this.inlineRounds.run(call, params, next);

  /** Waits up to `timeoutMs` milliseconds for handlers that outlast their calls. */
  async ended(timeoutMs: number): Promise<void> {
    await this.engine?.ended(timeoutMs);
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
