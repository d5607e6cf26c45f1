import type { InputRequiredResult, Result } from '@modelcontextprotocol/server';
import type { AskClient, McpCall, Params, ReplyChannel } from '../../protocol/mcp-call.js';
import type { HeaderCheck } from '../../headers/header-check.js';
import type { Answer, Stage } from '../../protocol/answer.js';
import type { ChainResult } from '../chain/result.js';
import type { ChainInUse, ChainSource } from '../chain-source.js';
import { contextOf } from '../messages/context.js';
import type { InterceptorSettings } from '../interceptor-options.js';
import { EVENT_OF } from '../protocol/events.js';
import type { InterceptorReports } from '../reports.js';
import { marked, synthetic, toolError, withWarnings } from './answers.js';
import { Refused, unchangeable, undiscovered } from './denial.js';
import { InputCrossing } from './input-crossing.js';
import { ListGuard } from './list-guard.js';
import type { Listings } from './listing.js';
import { Message } from './message.js';
import { Outbox, type PassNotification } from './outbox.js';
import { phaseRunner, type RunPhase } from './run-phase.js';

export interface BoundaryOptions {
  readonly server: string;
  readonly source: ChainSource;
  readonly settings: InterceptorSettings;
  readonly reports: InterceptorReports;
  readonly listings: Listings;
  readonly headers: HeaderCheck;
  /** Takes back a subscription. */
  readonly unsubscribe: Answer;
}

const isInputRequired = (result: unknown): result is InputRequiredResult =>
  (result as { resultType?: unknown } | undefined)?.resultType === 'input_required';

/** What says which thing a request, or the `ref` in it, is about. */
const NAMING = ['type', 'name', 'uri'];

const isSameThing = (a: Params, b: Params): boolean =>
  isNamedAlike(a, b) && isNamedAlike((a['ref'] ?? {}) as Params, (b['ref'] ?? {}) as Params);

const isNamedAlike = (a: Params, b: Params): boolean => NAMING.every(member => a[member] === b[member]);

/** How often interceptors may answer all that a call asks of its client, so that it is never asked. */
const MAX_ANSWERED_ROUNDS = 10;

type Notify = ReplyChannel['notify'];

/** A notification has no answer, so that nobody can give one. */
const UNANSWERED = { checkResponse: () => 'it has no answer' } as const;

/** Runs the chain around everything that a server answers: requests are received, results are sent. */
export class Boundary {
  private readonly run: RunPhase;
  private readonly lists: ListGuard;

  constructor(private readonly options: BoundaryOptions) {
    this.run = phaseRunner(options);
    this.lists = new ListGuard(options, this.run);
  }

  /** Runs the chain around a method. */
  intercept(method: string): Stage {
    const event = EVENT_OF[method];
    return event === undefined
      ? this.passNotifications
      : next => (call, params) => this.dispatch(event, call, params, next);
  }

  /** For a method that no interceptor sees: the progress and log messages of its calls pass the chain. */
  readonly passNotifications: Stage = next => (call, params) => this.tell(call, told => next(told, params));

  /** @throws McpException for a message that is refused, or whatever `next` throws */
  private async dispatch(event: string, call: McpCall, params: Params, next: Answer): Promise<Result> {
    const { method } = call;
    let message: Message | undefined;
    try {
      const found = this.messageOf(method, event, call);
      message = found instanceof Promise ? await found : found;
      const { settings } = this.options;
      const received = this.receive(message, params);
      const request = received instanceof Promise ? await received : received;
      const payload = request.finalPayload as Params;
      const isNew = !call.subscriptions?.has(payload['uri'] as string);
      const answer = request.response
        ? synthetic(method, request.response)
        : await this.handle(message, payload, next);
      // Only a handler's question passed the response phase already; an interceptor can answer what looks like one.
      const isAsking = !request.response && isInputRequired(answer);
      const isDone = isAsking || !message.hooks('response');
      const response = isDone ? undefined : await this.send(message, answer, payload, isNew);
      const final = response ? (response.finalPayload as Result) : answer;
      // A mutator may have made another result, without the mark.
      const result = request.response && response ? marked(final, request.response) : final;
      return settings.warnings ? withWarnings(result, response ? [request, response] : [request]) : result;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (method !== 'tools/call' || this.options.settings.denial !== 'tool-error') throw error.denial;
      return toolError(error.denial);
    } finally {
      message?.end?.();
    }
  }

  /**
   * Runs both phases for a subscription that does not pass through `dispatch` (`subscriptions/listen`). What is
   * subscribed to cannot be changed there, so that a chain which wants to is one that refuses.
   * @throws McpException where it was refused
   */
  async admitSubscription(uri: string, call: McpCall): Promise<void> {
    let message: Message | undefined;
    try {
      message = await this.messageOf('resources/subscribe', 'resources/subscribe', call);
      const request = await this.receive(message, { uri });
      const payload = request.finalPayload as Params;
      if (request.response || payload['uri'] !== uri) throw new Refused(unchangeable());
      await this.run(message, 'response', {}, payload);
    } catch (error) {
      throw error instanceof Refused ? error.denial : error;
    } finally {
      message?.end?.();
    }
  }

  /**
   * Asks a client something that belongs to none of its requests.
   * @throws McpException where it was refused
   */
  async ask(
    call: McpCall,
    send: AskClient,
    ...[method, params, options]: Parameters<AskClient>
  ): Promise<Result> {
    const message = await this.messageOf(method, method, call);
    try {
      return await this.crossingOf(message).asking(send)(method, params, options);
    } finally {
      message.end?.();
    }
  }

  /**
   * Does something for a client that no interceptor sees, except the progress and log messages that it is sent meanwhile.
   * @throws whatever `work` throws
   */
  private async tell<T>(call: McpCall, work: (call: McpCall) => Promise<T>): Promise<T> {
    let found: Promise<Message> | undefined;
    // Most methods tell nothing, and so need no chain.
    const find = async () => this.messageOf(call.method, call.method, call);
    const pass: PassNotification = async (name, params, deadline) =>
      this.passing(() => (found ??= find()), name, params, deadline);
    try {
      return await this.telling(call, pass, work);
    } finally {
      found?.then(
        message => message.end?.(),
        () => undefined,
      );
    }
  }

  /** What sends notifications that belong to none of a client's requests. */
  teller(callOf: () => McpCall, send: Notify): Notify {
    const pass: PassNotification = async (name, params, deadline) => {
      let message: Message | undefined;
      const find = async () => (message = await this.messageOf(name, name, callOf()));
      try {
        return await this.passing(find, name, params, deadline);
      } finally {
        message?.end?.();
      }
    };
    const outbox = new Outbox(pass, this.options.settings.timeoutMs);
    return (method, params) => outbox.send(method, params, send);
  }

  /** Does something whose notifications pass the chain, and have been sent when it ends. */
  private async telling<T>(
    call: McpCall,
    pass: PassNotification,
    work: (call: McpCall) => Promise<T>,
  ): Promise<T> {
    const outbox = new Outbox(pass, this.options.settings.timeoutMs);
    const { reply } = call;
    const notify: Notify = (method, params) =>
      outbox.send(method, params, (name, passed) => reply.notify(name, passed));
    try {
      return await work({ ...call, reply: channelOver(reply, { notify }) });
    } finally {
      await outbox.settled();
    }
  }

  private async passing(
    find: () => Promise<Message>,
    ...[method, params, deadline]: Parameters<PassNotification>
  ): Promise<Params | undefined> {
    try {
      return await this.pass(await find(), method, params, deadline);
    } catch (error) {
      return droppedIfRefused(error);
    }
  }

  /** It is a promise only where an interceptor needed one. */
  private pass(
    message: Message,
    ...[method, params, deadline]: Parameters<PassNotification>
  ): ReturnType<PassNotification> {
    if (message.call.reply.signal.aborted) return undefined;
    try {
      const run = this.run(message.telling(method, deadline), 'request', params, undefined, UNANSWERED);
      return run instanceof Promise
        ? run.then(({ finalPayload }) => finalPayload as Params, droppedIfRefused)
        : (run.finalPayload as Params);
    } catch (error) {
      return droppedIfRefused(error);
    }
  }

  /** The request phase; it is a promise only where something has to be waited for. */
  private receive(message: Message, params: Params): ChainResult | Promise<ChainResult> {
    if (this.lists.guards(message)) return this.receiveShown(message, params);
    const checked = this.options.headers(message.call);
    return checked
      ? checked.then(() => this.run(message, 'request', params))
      : this.run(message, 'request', params);
  }

  /**
   * The same where lists hide things. What one hides cannot be used, neither as it was asked for nor as a mutator asks
   * for it or answers it. It is answered like what does not exist, and the chain runs for neither of the two.
   */
  private async receiveShown(message: Message, params: Params): Promise<ChainResult> {
    const { lists } = this;
    const found = lists.mayHide(message, params) ? await lists.lookUp(message, params) : undefined;
    if (found?.isHidden) throw found.refusal;
    const checked = this.options.headers(message.call, found?.page);
    if (checked) await checked;
    const request = await this.run(message, 'request', params);
    const payload = request.finalPayload as Params;
    if (!isSameThing(payload, params) && lists.mayHide(message, payload)) {
      const other = await lists.lookUp(message, payload);
      // Of what it is called by, not of what an interceptor makes of that.
      if (other?.isHidden) throw found?.refusal ?? other.refusal;
    }
    return request;
  }

  /** Has a request handled. What the client is asked and told meanwhile, and answers, passes the chain as well. */
  private handle(message: Message, payload: Params, next: Answer): Promise<Result> {
    const { chain, call } = message;
    const work = (told: McpCall) =>
      chain.hooksInput
        ? this.handleAsking(message, payload, told, next)
        : this.handleOnce(message, payload, told, next);
    return chain.hooksNotifications
      ? this.telling(call, (...told) => this.pass(message, ...told), work)
      : work(call);
  }

  private async handleAsking(
    message: Message,
    payload: Params,
    call: McpCall,
    next: Answer,
  ): Promise<Result> {
    const crossing = this.crossingOf(message);
    const { reply } = call;
    let governed: McpCall = {
      ...call,
      ...(reply.ask && { reply: channelOver(reply, { ask: crossing.asking(reply.ask) }) }),
      receive: responses => crossing.received(responses),
    };
    for (let round = 0; round < MAX_ANSWERED_ROUNDS; round++) {
      const answer = await this.handleOnce(message, payload, governed, next);
      if (!isInputRequired(answer)) return answer;
      const sent = await crossing.sent(answer);
      if ('result' in sent) return sent.result;
      governed = {
        ...governed,
        inputResponses: sent.answers,
        receive: undefined,
        requestState: answer.requestState,
      };
    }
    throw new Error(
      `Interceptors answered ${MAX_ANSWERED_ROUNDS} rounds of ${call.method}, and it still asks`,
    );
  }

  /** Has it handled, and what it asks the client for, if it does, seen by the interceptors that are for that. */
  private async handleOnce(message: Message, payload: Params, call: McpCall, next: Answer): Promise<Result> {
    const answer = await next(call, payload);
    return isInputRequired(answer) ? this.sendAsking(message, answer, payload) : answer;
  }

  /** What asks the client for input is no result yet: only interceptors that say so see it. */
  private async sendAsking(message: Message, answer: Result, payload: Params): Promise<Result> {
    const { finalPayload } = await this.run(message, 'response', answer, payload, {
      inputRequired: true,
      checkPayload: result => (isInputRequired(result) ? undefined : 'it is no InputRequiredResult'),
    });
    return finalPayload as Result;
  }

  /** What is asked on behalf of a message. Whoever asks is told of a refusal as the client would be. */
  private crossingOf(message: Message): InputCrossing {
    return new InputCrossing(async (event, phase, payload, request) => {
      try {
        return await this.run(message.asking(event), phase, payload, request);
      } catch (error) {
        throw error instanceof Refused ? error.denial : error;
      }
    });
  }

  /** The response phase. A subscription that it refuses must not stay, unless there was one before. */
  private async send(
    message: Message,
    answer: Result,
    payload: Params,
    isNew: boolean,
  ): Promise<ChainResult> {
    try {
      return await this.run(message, 'response', answer, payload);
    } catch (error) {
      if (message.method === 'resources/subscribe' && isNew) {
        await this.options.unsubscribe(message.call, payload);
      }
      throw error;
    }
  }

  /**
   * A message, with the chain that is for it. Finding that out is part of the request's time.
   * @throws Refused where a remote host could not be asked: nothing passes unchecked
   */
  private messageOf(method: string, event: string, call: McpCall): Message | Promise<Message> {
    const { source, settings } = this.options;
    const deadline = performance.now() + settings.timeoutMs;
    const caller = () => ({ context: contextOf(call), headers: call.http?.headers ?? {} });
    let current: ChainInUse | Promise<ChainInUse>;
    try {
      current = source.current(call.reply.signal, caller, settings.timeoutMs);
    } catch (error) {
      throw this.undiscovered(error, event);
    }
    if (!(current instanceof Promise))
      return new Message(current.chain, method, event, call, deadline, current.end);
    return current.then(
      ({ chain, end }) => new Message(chain, method, event, call, deadline, end),
      (error: unknown) => {
        throw this.undiscovered(error, event);
      },
    );
  }

  private undiscovered(error: unknown, event: string): Refused {
    this.options.reports.undiscovered(error, event);
    return new Refused(undiscovered());
  }
}

function droppedIfRefused(error: unknown): undefined {
  if (!(error instanceof Refused)) throw error;
}

/** A reply channel that differs from another; its signal is still made only if somebody asks for it. */
const channelOver = (reply: ReplyChannel, changes: Partial<Omit<ReplyChannel, 'signal'>>): ReplyChannel => ({
  get signal() {
    return reply.signal;
  },
  notify: (method, params) => reply.notify(method, params),
  ...(reply.ask && { ask: reply.ask }),
  ...changes,
});
