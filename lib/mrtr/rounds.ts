import { Logger } from '@nestjs/common';
import {
  MissingRequiredClientCapabilityError,
  type InputRequiredResult,
  type Result,
} from '@modelcontextprotocol/server';
import type { Entry } from '../catalog/entries.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { callerOf } from '../server/caller.js';
import type { Exchange } from '../server/exchange.js';
import { RunningCalls } from '../server/running-calls.js';
import { toolError } from '../server/tool-result.js';
import { LiveAsker } from './live/live-asker.js';
import { CurrentRound } from './replay/current-round.js';
import type { InputRequiredOptions } from './input-required.exception.js';
import { copyOf, newJournal, withAnswers, type Journal, type RoundMemory } from './replay/journal.js';
import type { MrtrSettings } from './mrtr-options.js';
import { LegacyRounds } from './live/legacy-rounds.js';
import { assertDeclared, tooManyRounds, UnsupportedInput } from './errors.js';
import { MrtrError } from './mrtr.error.js';
import { digestOf, InvalidStateError, RequestState } from './state/request-state.js';
import { withAnswersAsked } from './input-responses.js';
import { Round } from './replay/round.js';
import { PendingRequests } from './live/pending-requests.js';

/** The methods whose handlers may ask (2026-07-28: basic/patterns/mrtr). */
const ASKING = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** Whether a handler can ask the client of an exchange: in its own rounds, or on a connection that carries requests. */
export const canAsk = ({ method, era, ask }: Exchange): boolean =>
  ASKING.has(method) && (era === 'modern' || ask !== undefined);

/** What a handler that asks came to in this round. */
export type RoundResult<T> = { readonly value: T } | { readonly required: InputRequiredResult };

/** Runs handlers that ask their client in the middle of a call: one round at a time, and each on any node. */
export class Rounds {
  private readonly logger = new Logger('McpMrtr');
  private readonly states: RequestState;
  readonly suspensions: PendingRequests;
  private readonly legacy: LegacyRounds;
  private readonly running = new RunningCalls();
  private isWarned = false;

  /** @param server the server's name: a state of another one is none */
  constructor(
    private readonly server: string,
    private readonly settings: MrtrSettings,
  ) {
    this.states = new RequestState(settings);
    this.suspensions = new PendingRequests(settings.suspension);
    this.legacy = new LegacyRounds(this.suspensions, settings.maxRounds);
  }

  /**
   * Runs a handler for one round.
   * @throws McpException (-32602) for a `requestState` that is not this call's; MrtrError for a mistake of the handler;
   *   whatever the handler throws
   */
  async run<T>(
    { where, key, version }: Entry,
    exchange: Exchange,
    work: (current: CurrentRound, exchange: Exchange) => Promise<T>,
  ): Promise<RoundResult<T>> {
    const binding = () => this.bindingOf(key, exchange);
    const earlier = await this.journalOf(exchange, where, version, binding);
    const answered = await withAnswersAsked(exchange, earlier);
    const journal = earlier && withAnswers(earlier, answered.inputResponses ?? {});
    // What a handler awaits, it is given there.
    const own: Exchange = { ...answered, inputResponses: copyOf(journal?.given) };
    const current = new CurrentRound(() => this.begin(journal ?? newJournal(version), where, exchange));
    if (journal) current.begin();
    const outcome = await current.run(() => work(current, own));
    if ('value' in outcome) return outcome;
    return { required: await this.required(current, exchange, where, outcome.asking, binding) };
  }

  /**
   * Answers a call, in as many rounds as it needs where its client knows none (2025 era).
   * @throws McpException; whatever `call` throws
   */
  answer(exchange: Exchange, call: (exchange: Exchange) => Promise<Result>): Promise<Result> {
    if (!exchange.ask) return exchange.era === 'legacy' ? withoutAsking(exchange, call) : call(exchange);
    return this.legacy.run(exchange, call);
  }

  /** Runs a handler's own method. It may outlast its call: an interceptor's Observable ends as soon as the signal fires. */
  watch({ ask }: Exchange, current: CurrentRound, handler: () => unknown): unknown {
    const result = current.watch(handler);
    if (ask && result instanceof Promise) this.running.add(Promise.race([result, current.untilLeft()]));
    return result;
  }

  /** Waits, up to so many milliseconds, for handlers that outlast their calls, whose signals have fired. */
  async ended(timeoutMs: number): Promise<void> {
    await this.running.ended(timeoutMs);
  }

  private begin(journal: Journal, where: string, exchange: Exchange): Round {
    const { onMismatch, maxRounds } = this.settings;
    const asker =
      exchange.era === 'legacy' &&
      new LiveAsker(
        journal.rounds,
        maxRounds,
        (key, round) => this.tooMany(where, [key], round),
        this.suspensions.asker(exchange),
      );
    return new Round(journal, {
      where,
      onMismatch,
      signal: exchange.signal,
      onMistake: mistake => this.logger.error(mistake.message),
      onSlow: key =>
        this.logger.warn(
          `${where} asks "${key}" while a step still runs, and the question waits for that; a step that waits for the answer would wait for ever`,
        ),
      assertAskable: request => assertDeclared([request], exchange.clientCapabilities),
      ...(asker && { asker }),
    });
  }

  /** The result that ends a round: what was asked by whichever way, and what is to be remembered. */
  private async required(
    current: CurrentRound,
    exchange: Exchange,
    where: string,
    asking: InputRequiredOptions,
    binding: () => string,
  ): Promise<InputRequiredResult> {
    if (!canAsk(exchange)) throw new UnsupportedInput();
    const inputRequests = await current.requests(asking);
    assertDeclared(Object.values(inputRequests), exchange.clientCapabilities);
    const round = current.begin();
    await round.stepsEnded();
    const journal = round.remember(asking);
    if (journal && journal.rounds > this.settings.maxRounds) {
      throw this.tooMany(where, Object.keys(inputRequests), journal.rounds);
    }
    return {
      resultType: 'input_required',
      ...(Object.keys(inputRequests).length > 0 && { inputRequests }),
      ...(journal && (await this.keep(journal, exchange, binding))),
    };
  }

  /** Logs that a handler asked in too many rounds. @returns what its client is told */
  private tooMany(where: string, keys: readonly string[], round: number): McpException {
    const { maxRounds } = this.settings;
    const asked = keys.map(key => JSON.stringify(key)).join(', ') || 'to be called again';
    const { message } = new MrtrError(
      'MRTR_TOO_MANY_ROUNDS',
      `${where} asked ${asked} in round ${round} of a call, more than "mrtr.maxRounds" (${maxRounds}) allows; end its loop, or raise the option`,
    );
    this.logger.error(message);
    return tooManyRounds(maxRounds);
  }

  /** What is to be remembered travels with the client, unless its rounds are all in this process. */
  private async keep(
    journal: Journal,
    { memory }: Exchange,
    binding: () => string,
  ): Promise<Pick<InputRequiredResult, 'requestState'>> {
    if (!memory) return { requestState: await this.seal(journal, binding()) };
    memory.journal = JSON.parse(this.states.write(journal)) as Journal;
    return {};
  }

  private async journalOf(
    exchange: Exchange,
    where: string,
    version: string,
    binding: () => string,
  ): Promise<Journal | undefined> {
    try {
      const journal = exchange.memory ? recall(exchange.memory) : await this.opened(exchange, binding);
      return journal && journal.version !== version ? this.begunAnew(journal, version, where) : journal;
    } catch (error) {
      if (!(error instanceof InvalidStateError)) throw error;
      this.logger.warn(`A requestState for ${where} was refused: ${error.message}`);
      throw new McpException(McpErrorCode.InvalidParams, 'Invalid or expired requestState', {
        reason: 'invalid_request_state',
      });
    }
  }

  private async opened({ requestState }: Exchange, binding: () => string): Promise<Journal | undefined> {
    const sealed = requestState<unknown>();
    return sealed === undefined ? undefined : ((await this.states.open(sealed, binding())) as Journal);
  }

  /**
   * What of a call's journal another version of the handler can go on with: what it has asked is asked again.
   * @throws InvalidStateError where something was done because of an answer, and so cannot be
   */
  private begunAnew(journal: Journal, version: string, where: string): Journal {
    const { answers, open, asked = {}, given, state, ...kept } = journal;
    const { steps } = kept;
    if (Object.values(steps).some(({ after, isTold }) => after > 0 || isTold)) {
      throw new InvalidStateError('the handler has changed since, and has done something by then');
    }
    const questions = Object.keys(answers).length + Object.keys(open).length + Object.keys(asked).length;
    if (questions > 0 || given || state !== undefined) {
      this.logger.warn(`${where} has changed since a call of it began; its questions are asked again`);
    }
    return { ...kept, version, answers: {}, open: {} };
  }

  private seal(journal: Journal, binding: string): Promise<string> {
    if (this.settings.secrets.length === 0 && !this.isWarned) {
      this.isWarned = true;
      this.logger.warn(
        `The server "${this.server}" has no "mrtr.secret": calls with several rounds survive neither a restart nor a second node`,
      );
    }
    return this.states.seal(journal, binding);
  }

  /** Whose call it is, of what, and with which arguments. */
  private bindingOf(key: string, { method, params, authInfo, http }: Exchange): string {
    const { name, uri, arguments: args } = params;
    return JSON.stringify([
      this.server,
      method,
      key,
      callerOf(authInfo, http?.request),
      digestOf({ name, uri, args }),
    ]);
  }
}

/** What the latest round alone has left. */
function recall(memory: RoundMemory): Journal | undefined {
  const { journal } = memory;
  memory.journal = undefined;
  return journal;
}

/** What stands behind the server only sees that a client declares nothing where no session keeps what it has declared. */
async function withoutAsking(
  exchange: Exchange,
  call: (exchange: Exchange) => Promise<Result>,
): Promise<Result> {
  try {
    return await call(exchange);
  } catch (error) {
    if (!(error instanceof MissingRequiredClientCapabilityError)) throw error;
    const { message } = new UnsupportedInput();
    if (exchange.method === 'tools/call') return toolError(message);
    throw new McpException(McpErrorCode.Refused, message);
  }
}
