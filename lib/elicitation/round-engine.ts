import { Logger } from '@nestjs/common';
import type { InputRequiredResult } from '@modelcontextprotocol/server';
import type { McpException } from '../exceptions/mcp.exception.js';
import type { McpCall } from '../protocol/mcp-call.js';
import type { Traffic } from '../protocol/traffic.js';
import { RareLines } from '../util/log-line.js';
import { RunningWork } from '../protocol/running-calls.js';
import { LiveAsker, type PendingRequests } from './live/pending-requests.js';
import { CurrentRound } from './replay/current-round.js';
import type { InputRequiredOptions } from './requests/input-required.exception.js';
import { answersAsked, copyOf, type Journal, newJournal, withAnswers } from './replay/journal.js';
import type { MrtrSettings } from './mrtr-options.js';
import { assertDeclared, canAsk, invalidState, tooManyRounds, UnsupportedInput } from './requests/errors.js';
import { MrtrError } from './mrtr.error.js';
import { bindingOf, InvalidStateError, RequestState } from './state/request-state.js';
import { WatchedStore } from './state/watched-store.js';
import { Round } from './replay/round.js';

export interface AskingHandler {
  readonly where: string;
  readonly key: string;
  readonly version: string;
}

export type RoundResult<T> = { readonly value: T } | { readonly required: InputRequiredResult };

/** Records the trace position of rounds. Undefined if the calls are not observed. */
export type RoundTraffic = Pick<Traffic, 'mark' | 'follow' | 'endRounds'> | undefined;

/** The part of `Rounds` that is loaded only when a handler can ask its client. */
export class RoundEngine {
  private readonly logger: Logger;
  private readonly rare = new RareLines();
  private readonly states: RequestState;
  private readonly running = new RunningWork();
  private isWarned = false;

  /** @param server the server's name, which is part of each state */
  constructor(
    private readonly server: string,
    private readonly settings: MrtrSettings,
    private readonly pendingRequests: PendingRequests,
    private readonly traffic: RoundTraffic,
  ) {
    const { store } = settings;
    this.logger = new Logger(`McpMrtr(${server})`);
    this.states = new RequestState({ ...settings, store: store && new WatchedStore(store, this.logger) });
  }

  /**
   * Runs one round of a handler. @throws McpException (-32602) for another call's `requestState`, MrtrError for a
   * mistake of the handler
   */
  async run<T>(
    { where, key, version }: AskingHandler,
    call: McpCall,
    work: (current: CurrentRound, call: McpCall) => Promise<T>,
  ): Promise<RoundResult<T>> {
    const binding = () => bindingOf(call, call.params, this.server, key);
    const isFirst = call.memory ? call.memory.journal === undefined : call.requestState === undefined;
    const earlier = isFirst ? undefined : await this.journalOf(call, where, version, binding);
    const answers = call.inputResponses && (await answersAsked(call, earlier));
    const journal = earlier && withAnswers(earlier, answers ?? {});
    if (earlier?.mark !== undefined) this.traffic?.follow(earlier.mark);
    // The handler gets awaited answers from `await`, not from `inputResponses`.
    const given = copyOf(journal?.given);
    const isOwn = given === call.inputResponses;
    // Not by a spread, because V8 takes microseconds for each property after it.
    const own = isOwn ? call : Object.assign({}, call, { inputResponses: given, receive: undefined });
    const current = new CurrentRound(
      () => this.begin(journal ?? newJournal(version), where, call),
      result => this.track(call, current, result),
    );
    if (journal) current.begin();
    const outcome = await current.run(() => work(current, own));
    if ('value' in outcome) {
      const earlier = current.ifAny?.number ?? 0;
      if (earlier > 0) this.traffic?.endRounds(earlier + 1);
      return outcome;
    }
    return { required: await this.required(current, call, where, outcome.asking, binding) };
  }

  /** Tracks a handler that may outlast its call: a Nest interceptor's Observable ends when the signal aborts. */
  private track({ reply }: McpCall, current: CurrentRound, result: Promise<unknown>): void {
    if (!reply.ask) return;
    const work = Promise.race([result, current.untilLeft()]).catch(() => undefined);
    this.running.add(work);
    void work.then(() => this.running.delete(work));
  }

  /** Waits up to `timeoutMs` milliseconds for handlers that outlast their calls. */
  async ended(timeoutMs: number): Promise<void> {
    await this.running.idle(timeoutMs);
  }

  private begin(journal: Journal, where: string, call: McpCall): Round {
    const { onMismatch, maxRounds } = this.settings;
    let live: LiveAsker | undefined;
    const asker = () =>
      (live ??= new LiveAsker(
        journal.rounds,
        maxRounds,
        (key, round) => this.tooMany(where, [key], round),
        this.pendingRequests.asker(call),
      ));
    return new Round(journal, {
      where,
      onMismatch,
      reply: call.reply,
      onMistake: mistake => this.logger.error(mistake.message),
      onRecord: call.lifecycle?.onRecord?.bind(call.lifecycle),
      assertAskable: request => assertDeclared([request], call.clientCapabilities),
      asker: () => (call.era === 'legacy' || call.reply.ask ? asker() : live),
    });
  }

  private async required(
    current: CurrentRound,
    call: McpCall,
    where: string,
    asking: InputRequiredOptions,
    binding: () => string,
  ): Promise<InputRequiredResult> {
    if (!canAsk(call)) throw new UnsupportedInput();
    const inputRequests = await current.requests(asking);
    assertDeclared(Object.values(inputRequests), call.clientCapabilities);
    const round = current.begin();
    await round.stepsEnded();
    const journal = this.marked(round.remember(asking));
    if (journal && journal.rounds > this.settings.maxRounds) {
      throw this.tooMany(where, Object.keys(inputRequests), journal.rounds);
    }
    return {
      resultType: 'input_required',
      ...(Object.keys(inputRequests).length > 0 && { inputRequests }),
      ...(journal && (await this.keep(journal, call, binding))),
    };
  }

  private marked(journal: Journal | undefined): Journal | undefined {
    const mark = journal && this.traffic?.mark();
    return mark === undefined ? journal : { ...journal!, mark };
  }

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

  /** The client carries the journal, unless all rounds run in this process. */
  private async keep(
    journal: Journal,
    { memory }: McpCall,
    binding: () => string,
  ): Promise<Pick<InputRequiredResult, 'requestState'>> {
    if (!memory) return { requestState: await this.seal(journal, binding()) };
    memory.journal = JSON.parse(this.states.write(journal)) as Journal;
    return {};
  }

  private async journalOf(
    call: McpCall,
    where: string,
    version: string,
    binding: () => string,
  ): Promise<Journal | undefined> {
    const { memory, requestState } = call;
    try {
      const journal =
        memory || requestState === undefined
          ? (memory?.journal as Journal | undefined)
          : ((await this.states.open(requestState, binding())) as Journal);
      // A journal is valid for one round only.
      if (memory) memory.journal = undefined;
      return journal && journal.version !== version ? this.begunAnew(journal, version, where) : journal;
    } catch (error) {
      if (!(error instanceof InvalidStateError)) throw error;
      const line = this.rare.line(where, `A requestState for ${where} was refused: ${error.message}`);
      if (line !== undefined) this.logger.warn(line);
      throw invalidState();
    }
  }

  /** Starts a call again after its handler has changed. @throws InvalidStateError if a step depends on an answer */
  private begunAnew(journal: Journal, version: string, where: string): Journal {
    const { answers, open, asked = {}, given, state, ...kept } = journal;
    const { steps } = kept;
    if (Object.values(steps).some(({ after, isTold }) => after > 0 || isTold)) {
      throw new InvalidStateError(
        'the handler has changed since, and a step of the call depends on an answer',
      );
    }
    const known = Object.keys(answers).length + Object.keys(open).length + Object.keys(asked).length;
    if (known > 0 || given || state !== undefined) {
      this.logger.warn(`${where} has changed since a call of it began; its input requests are asked again`);
    }
    return { ...kept, version, answers: {}, open: {} };
  }

  private seal(journal: Journal, binding: string): Promise<string> {
    if (this.settings.secrets.length === 0 && !this.isWarned) {
      this.isWarned = true;
      this.logger.warn(
        `"mrtr.secret" is not set: calls with several rounds fail after a restart and on other nodes; set it to the same secret on all nodes`,
      );
    }
    return this.states.seal(journal, binding);
  }
}
