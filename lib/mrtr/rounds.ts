import { randomUUID } from 'node:crypto';
import { Logger, NotImplementedException, type HttpException } from '@nestjs/common';
import {
  MissingRequiredClientCapabilityError,
  SdkError,
  SdkErrorCode,
  type InputRequest,
  type InputRequiredResult,
} from '@modelcontextprotocol/server';
import type { Entry } from '../catalog/entries.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { Exchange } from '../server/exchange.js';
import { callerOf } from '../transports/sessions/caller.js';
import { missingCapabilities } from './client-capabilities.js';
import { CurrentRound } from './current-round.js';
import type { InputRequiredOptions } from './input-required.exception.js';
import { newJournal, withAnswers, type Journal } from './journal.js';
import type { MrtrSettings } from './mrtr-options.js';
import { digestOf, InvalidStateError, RequestState } from './request-state.js';
import { Round, type RoundOptions } from './round.js';
import { Suspensions } from './suspensions.js';

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
  readonly suspensions: Suspensions;
  private isWarned = false;

  /** @param server the server's name: a state of another one is none */
  constructor(
    private readonly server: string,
    private readonly settings: MrtrSettings,
  ) {
    this.states = new RequestState(settings);
    this.suspensions = new Suspensions(settings.suspension);
  }

  /**
   * Runs a handler for one round.
   * @throws McpException (-32602) for a `requestState` that is not this call's; MrtrError for a mistake of the handler;
   *   whatever the handler throws
   */
  async run<T>(
    { where, key, version }: Entry,
    exchange: Exchange,
    work: (current: CurrentRound) => Promise<T>,
  ): Promise<RoundResult<T>> {
    const binding = () => this.bindingOf(key, exchange);
    const journal = await this.journalOf(exchange, where, version, binding);
    const current = new CurrentRound(() => this.begin(journal ?? newJournal(version), where, exchange));
    if (journal) current.begin();
    const outcome = await current.run(() => work(current));
    if ('value' in outcome) return outcome;
    return { required: await this.required(current, exchange, outcome.asking, binding) };
  }

  private begin(journal: Journal, where: string, exchange: Exchange): Round {
    const askNow = exchange.era === 'legacy' ? this.asker(exchange, journal) : undefined;
    const { onMismatch } = this.settings;
    return new Round(journal, {
      where,
      onMismatch,
      signal: exchange.signal,
      onMistake: mistake => this.logger.error(mistake.message),
      ...(askNow && { askNow }),
    });
  }

  /** The result that ends a round: what was asked by whichever way, and what is to be remembered. */
  private async required(
    current: CurrentRound,
    exchange: Exchange,
    asking: InputRequiredOptions,
    binding: () => string,
  ): Promise<InputRequiredResult> {
    if (!canAsk(exchange)) throw unsupported();
    const inputRequests = await current.requests(asking);
    const missing = missingCapabilities(Object.values(inputRequests), exchange.clientCapabilities);
    if (missing) throw undeclared(missing);
    const journal = current.begin().remember(asking.requestState);
    if (journal && journal.rounds > this.settings.maxRounds) throw tooManyRounds(this.settings.maxRounds);
    return {
      resultType: 'input_required',
      ...(Object.keys(inputRequests).length > 0 && { inputRequests }),
      ...(journal && { requestState: await this.seal(journal, binding()) }),
    };
  }

  private async journalOf(
    exchange: Exchange,
    where: string,
    version: string,
    binding: () => string,
  ): Promise<Journal | undefined> {
    const sealed = exchange.requestState<unknown>();
    if (sealed === undefined) return undefined;
    let journal: Journal;
    try {
      journal = (await this.states.open(sealed, binding())) as Journal;
      if (journal.version !== version) journal = this.begunAnew(journal, version, where);
    } catch (error) {
      if (!(error instanceof InvalidStateError)) throw error;
      this.logger.warn(`A requestState for ${where} was refused: ${error.message}`);
      throw new McpException(McpErrorCode.InvalidParams, 'Invalid or expired requestState', {
        reason: 'invalid_request_state',
      });
    }
    return withAnswers(journal, exchange.inputResponses ?? {});
  }

  /**
   * What of a call's journal another version of the handler can go on with: what it has asked is asked again.
   * @throws InvalidStateError where something was done because of an answer, and so cannot be
   */
  private begunAnew(journal: Journal, version: string, where: string): Journal {
    const { answers, open, steps } = journal;
    if (Object.values(steps).some(({ after }) => after > 0)) {
      throw new InvalidStateError('the handler has changed since, and has done something by then');
    }
    if (Object.keys(answers).length + Object.keys(open).length > 0) {
      this.logger.warn(`${where} has changed since a call of it began; its questions are asked again`);
    }
    return { ...journal, version, answers: {}, open: {} };
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

  /** Asks a 2025-era client while the handler waits, on the stream of its own call. */
  private asker(exchange: Exchange, { rounds }: Journal): RoundOptions['askNow'] {
    let number = rounds;
    let open = 0;
    return async (request, over) => {
      const { ask, sessionId } = exchange;
      const signal = AbortSignal.any([exchange.signal, over]);
      if (!ask) throw unsupported();
      const missing = missingCapabilities([request], exchange.clientCapabilities);
      if (missing) throw undeclared(missing);
      // What is asked while something else is open belongs to the same round.
      if (open === 0 && ++number > this.settings.maxRounds) throw tooManyRounds(this.settings.maxRounds);
      open++;
      try {
        return await this.suspensions.during(sessionId, () =>
          ask(request.method, paramsOf(request), {
            signal,
            timeout: this.settings.suspension.idleTimeoutMs,
            resetTimeoutOnProgress: true,
            // Without it, there would be no token for progress to refer to.
            onprogress: () => undefined,
          }),
        );
      } catch (error) {
        if (exchange.signal.aborted) throw exchange.signal.reason;
        if (signal.aborted || !isTimeout(error)) throw error;
        throw new McpException(McpErrorCode.Refused, 'The client did not answer in time');
      } finally {
        open--;
      }
    };
  }
}

const isTimeout = (error: unknown): boolean =>
  error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;

/** The 2025 revisions give a page that a user is sent to an id, which 2026-07-28 has no use for. */
function paramsOf({ params }: InputRequest): Readonly<Record<string, unknown>> | undefined {
  const isUrl = (params as { mode?: unknown } | undefined)?.mode === 'url';
  return isUrl ? { ...params, elicitationId: randomUUID() } : params;
}

/** For the model to read, as whatever goes wrong while a tool runs. */
const unsupported = (): HttpException =>
  new NotImplementedException(
    'This call needs input from the client, which only clients of revision 2026-07-28 can give, and those of 2025 revisions over stdio or with a session',
  );

const undeclared = (requiredCapabilities: object): MissingRequiredClientCapabilityError =>
  new MissingRequiredClientCapabilityError(
    { requiredCapabilities },
    'The call needs input for which the client has not declared the capability',
  );

const tooManyRounds = (most: number): McpException =>
  new McpException(McpErrorCode.Refused, `The call asked for input in more than ${most} rounds`);
