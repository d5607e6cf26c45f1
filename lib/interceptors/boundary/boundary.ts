import type { Listings } from '../../protocol/listings.js';
import type { Result } from '@modelcontextprotocol/server';
import type { HeaderCheck } from '../../headers/header-check.js';
import type { Answer, Stage } from '../../protocol/answer.js';
import type { AskClient, LateMessages, McpCall, Params, ReplyChannel } from '../../protocol/mcp-call.js';
import type { OwnMethod } from '../../protocol/server-extension.js';
import { isList, mayAsk } from '../../protocol/methods.js';
import type { ChainResult } from '../chain/result.js';
import type { ChainInUse, ChainSource } from '../chain-source.js';
import type { InterceptorSettings } from '../interceptor-options.js';
import { contextOf } from '../messages/context.js';
import { EVENT_OF } from '../protocol/events.js';
import type { InterceptorReports } from '../reports.js';
import { marked, ownList, synthetic, toolError, withWarnings } from './answers.js';
import { InterceptedInputRequests } from './intercepted-input-requests.js';
import { isSameItem, ListGuard } from './list-guard.js';
import { listenStage } from './listen-stage.js';
import { isFinal, isInputRequired, Message } from './message.js';
import {
  NotificationQueue,
  statusEvent,
  statusIn,
  withInterceptedNotifications,
  type PassNotification,
} from './notification-queue.js';
import { orLater, phaseRunner, Refused, type RunPhase, unchangeable, undiscovered } from './run-phase.js';

interface BoundaryOptions {
  readonly server: string;
  readonly source: ChainSource;
  readonly settings: InterceptorSettings;
  readonly reports: InterceptorReports;
  readonly listings: Listings;
  readonly headers: HeaderCheck;
  readonly unsubscribe: Answer;
  /** The methods of extensions. */
  readonly ownMethods: ReadonlyMap<string, Pick<OwnMethod, 'isIntercepted'>>;
}

/** Notifications have no answer, so an interceptor cannot answer them. */
const UNANSWERED = { checkResponse: () => 'it has no answer' } as const;

/** Runs the chain around everything that a server answers: the server receives requests and sends results. */
export class Boundary {
  private readonly run: RunPhase;
  private readonly runOrLater: RunPhase;
  private readonly lists: ListGuard;

  constructor(private readonly options: BoundaryOptions) {
    this.run = phaseRunner(options);
    this.runOrLater = (...given) => this.run(...given).catch(orLater);
    this.lists = new ListGuard(options, this.run);
  }

  intercept(method: string): Stage {
    if (method === 'subscriptions/listen') {
      const { timeoutMs } = this.options.settings;
      const listen = listenStage(timeoutMs, (uri, call) => this.admitSubscription(uri, call));
      return next => listen((call, params) => next({ ...call, late: this.late(call) }, params));
    }
    const event = this.options.ownMethods.get(method)?.isIntercepted ? method : EVENT_OF[method];
    if (event !== undefined) return next => (call, params) => this.dispatch(event, call, params, next);
    return mayAsk(method) ? this.passInputRequests : this.passNotifications;
  }

  /** For a method of an extension: what it asks and sends its client passes the chain, also for earlier calls. */
  private readonly passInputRequests: Stage = next => (call, params) =>
    this.withMessage(call.method, { ...call, late: this.late(call) }, message =>
      this.handle(message, params, next),
    ).catch(deny);

  /** For a method that interceptors do not see: progress and log messages of its calls still pass the chain. */
  readonly passNotifications: Stage = next => async (call, params) => {
    let found: Promise<Message> | undefined;
    // Most methods send no notifications, so the chain is only found on demand.
    const find = () => (found ??= Promise.resolve().then(() => this.messageOf(call.method, call)));
    try {
      return await withInterceptedNotifications(
        call,
        this.queue((...told) =>
          find()
            .then(message => this.pass(message, ...told))
            .catch(droppedIfRefused),
        ),
        one => next(one, params),
      );
    } finally {
      found?.then(
        message => message.end?.(),
        () => undefined,
      );
    }
  };

  /** @throws McpException for a refused message, and errors of `next` */
  private async dispatch(event: string, call: McpCall, params: Params, next: Answer): Promise<Result> {
    const { method } = call;
    let message: Message | undefined;
    try {
      const found = this.messageOf(method, call, event);
      message = found instanceof Promise ? await found : found;
      return await this.answer(message, params, next);
    } catch (error) {
      return this.denied(method, error);
    } finally {
      message?.end?.();
    }
  }

  private async answer(message: Message, params: Params, next: Answer): Promise<Result> {
    const { method, call } = message;
    const request = await this.receive(message, params);
    const payload = request.finalPayload as Params;
    const isNew = !call.subscriptions?.has(payload['uri'] as string);
    const answer = request.response
      ? synthetic(method, request.response)
      : await this.handle(message, payload, next);
    // A handler's input request has already passed the response phase, and the result of a task passes it later. An
    // interceptor's answer that looks like one of them has not.
    const isLater = !request.response && !isFinal(answer);
    if (isLater || !message.hooks('response')) return this.finished(message, answer, [request]);
    const response = await this.send(message, answer, payload, isNew);
    const final = response.finalPayload as Result;
    // A mutator may have returned a new result without the mark.
    const result = request.response ? marked(final, request.response) : final;
    return this.finished(message, result, [request, response]);
  }

  private late(call: McpCall): LateMessages {
    return {
      result: (method, params, result) => this.passResult({ ...call, method }, params, result),
      input: requests =>
        this.withMessage(call.method, call, message =>
          new InterceptedInputRequests(message, this.runOrLater).sorted(requests),
        )
          .catch(orLater)
          .catch(deny),
      status: async text => {
        const status = statusEvent(call, text);
        const passed = await this.withMessage(call.method, call, message =>
          this.pass(message, ...status, undefined),
        ).catch(droppedIfRefused);
        return passed && statusIn(passed);
      },
    };
  }

  /** Runs the response phase for the result of an earlier call. */
  private passResult(call: McpCall, params: Params, result: Result): Promise<Result> {
    const { method } = call;
    const passed = async (message: Message) => {
      const response = await this.run(message, 'response', result, params);
      return this.finished(message, response.finalPayload as Result, [response]);
    };
    return this.withMessage(method, call, passed)
      .catch(orLater)
      .catch(error => this.denied(method, error));
  }

  /** The answer to a refused message. @throws the denial, if it is the answer, and all other errors */
  private denied(method: string, error: unknown): Result {
    if (!(error instanceof Refused)) throw error;
    if (method !== 'tools/call' || this.options.settings.denial !== 'tool-error') throw error.denial;
    return toolError(error.denial);
  }

  /**
   * Runs both phases for one resource of a `subscriptions/listen`. Mutators cannot change it.
   * @throws McpException if it is refused
   */
  private admitSubscription(uri: string, call: McpCall): Promise<void> {
    const admitted = async (message: Message) => {
      const request = await this.receive(message, { uri });
      const payload = request.finalPayload as Params;
      if (request.response || payload['uri'] !== uri) throw unchangeable();
      await this.run(message, 'response', {}, payload);
    };
    return this.withMessage('resources/subscribe', call, admitted).catch(deny);
  }

  /** Sends a request to a client outside of its calls. @throws McpException if it is refused */
  ask(call: McpCall, send: AskClient, ...[method, params, options]: Parameters<AskClient>): Promise<Result> {
    return this.withMessage(method, call, message =>
      new InterceptedInputRequests(message, this.run).asking(send)(method, params, options),
    ).catch(deny);
  }

  /** Returns a function that sends notifications to a client outside of its calls. */
  notifier(callOf: () => McpCall, send: ReplyChannel['notify']): ReplyChannel['notify'] {
    const queue = this.queue((name, ...told) =>
      this.withMessage(name, callOf(), message => this.pass(message, name, ...told)).catch(droppedIfRefused),
    );
    return (method, params) => queue.send(method, params, send);
  }

  private queue(pass: PassNotification): NotificationQueue {
    return new NotificationQueue(pass, this.options.settings.timeoutMs);
  }

  private pass(
    message: Message,
    ...[method, params, deadline]: Parameters<PassNotification>
  ): ReturnType<PassNotification> {
    const { reply } = message.call;
    if (reply.isEnded ?? reply.signal.aborted) return undefined;
    const told = message.within(method, deadline);
    if (!told.hooks('request')) return params;
    return this.run(told, 'request', params, undefined, UNANSWERED).then(
      ({ finalPayload }) => finalPayload as Params,
      droppedIfRefused,
    );
  }

  /**
   * Runs the request phase. If a list hides the handler from the caller, the answer is the same as for an unknown
   * handler, and the chain does not run. The same holds if a mutator asks for a hidden handler, or answers for it.
   */
  private async receive(message: Message, params: Params): Promise<ChainResult> {
    const { lists } = this;
    const found = lists.mayHide(message, params) ? await lists.lookUp(message, params) : undefined;
    if (found?.isHidden) throw found.refusal;
    const checked = this.options.headers(message.call, found?.page);
    if (checked) await checked;
    const request = await this.run(message, 'request', params);
    const payload = request.finalPayload as Params;
    if (
      payload !== params &&
      !isSameItem(message.method, payload, params) &&
      lists.mayHide(message, payload)
    ) {
      const other = await lists.lookUp(message, payload);
      // The refusal names the requested handler, not the handler that a mutator put in its place.
      if (other?.isHidden) throw found?.refusal ?? other.refusal;
    }
    return request;
  }

  /** Runs the handler. Requests and notifications to the client meanwhile, and its answers, also pass the chain. */
  private handle(message: Message, payload: Params, next: Answer): Promise<Result> {
    const { chain, call } = message;
    const once = async (one: McpCall): Promise<Result> => {
      const answer = await next(one, payload);
      return isInputRequired(answer) ? this.sendAsking(message, answer, payload) : answer;
    };
    const work = chain.hooksInput
      ? (told: McpCall) => new InterceptedInputRequests(message, this.run).around(told, once)
      : once;
    return chain.hooksNotifications
      ? withInterceptedNotifications(
          call,
          this.queue((...told) => this.pass(message, ...told)),
          work,
        )
      : work(call);
  }

  /** Only interceptors with `inputRequired` see an `input_required` result, because it is not the final result. */
  private async sendAsking(message: Message, answer: Result, payload: Params): Promise<Result> {
    const { finalPayload } = await this.run(message, 'response', answer, payload, {
      inputRequired: true,
      checkPayload: result => (isInputRequired(result) ? undefined : 'it is not an InputRequiredResult'),
    });
    return finalPayload as Result;
  }

  /** Runs the response phase. If it refuses a new subscription, the subscription is removed. */
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

  private finished(message: Message, result: Result, runs: readonly ChainResult[]): Result {
    const { warnings, resolveServers } = this.options.settings;
    // With `resolveServers`, another caller may have another chain.
    const differs = isList(message.method) && (message.mayChange || resolveServers !== undefined);
    const own = differs ? ownList(result, message.call) : result;
    return warnings ? withWarnings(own, runs) : own;
  }

  /** Works on a message with its chain. The hosts of the chain stay open meanwhile. */
  private async withMessage<T>(
    method: string,
    call: McpCall,
    work: (message: Message) => T | Promise<T>,
  ): Promise<T> {
    const message = await this.messageOf(method, call);
    try {
      return await work(message);
    } finally {
      message.end?.();
    }
  }

  /** Finds a message's chain, within the message's time. @throws Refused if a remote host could not be asked */
  private messageOf(method: string, call: McpCall, event = method): Message | Promise<Message> {
    const { source, settings, reports } = this.options;
    const deadline = performance.now() + settings.timeoutMs;
    const caller = () => ({ context: contextOf(call), headers: call.http?.headers ?? {} });
    const messageIn = ({ chain, end }: ChainInUse) => new Message(chain, method, event, call, deadline, end);
    const fail = (error: unknown): never => {
      reports.undiscovered(error, event, this.options.server);
      throw new Refused(undiscovered(), true);
    };
    try {
      const found = source.current(call.reply, caller, settings.timeoutMs);
      return found instanceof Promise ? found.then(messageIn, fail) : messageIn(found);
    } catch (error) {
      return fail(error);
    }
  }
}

function droppedIfRefused(error: unknown): undefined {
  if (!(error instanceof Refused)) throw error;
}

function deny(error: unknown): never {
  throw error instanceof Refused ? error.denial : error;
}
