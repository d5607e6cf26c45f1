import type { CallToolResult, InputRequiredResult, Result } from '@modelcontextprotocol/server';
import { unlessAborted } from '../client/unless-aborted.js';
import type { McpException } from '../exceptions/mcp.exception.js';
import type { DispatchedMethod, Params } from '../server/dispatcher.js';
import type { AskClient, Exchange } from '../server/exchange.js';
import type { Chain } from './chain/chain.js';
import type { ChainParams } from './chain/params.js';
import { passed, type ChainResult, type EntryResult } from './chain/result.js';
import type { ChainSource } from './chain-source.js';
import { denialOf, unchangeable, undiscovered } from './denial.js';
import { INPUT_EVENTS } from './hosts/answered-method.js';
import { contextOf } from './hosts/context.js';
import { ExchangeBag } from './hosts/origin.js';
import { payloadCheck } from './hosts/payload-check.js';
import { InputCrossing } from './input-crossing.js';
import type { InterceptorSettings } from './interceptor-options.js';
import { EVENT_OF } from './protocol/events.js';
import type { Phase } from './protocol/types.js';
import type { InterceptorReports } from './reports.js';

type Dispatch = (method: DispatchedMethod, params: Params, exchange: Exchange) => Promise<Result>;

/** Key in a result's `_meta` under which it is said that an interceptor answered, and which. */
export const SYNTHETIC_META = 'nestjs-mcp/synthetic';
/** Key in a result's `_meta` for what validators only warned of. */
export const WARNINGS_META = 'nestjs-mcp/warnings';

/** The page of a list that shows something, and how to see whether it still does. */
export interface Listing {
  readonly method: DispatchedMethod;
  readonly result: Result;
  isShown(result: unknown): boolean;
  /** What a client is told of something that does not exist. */
  readonly refusal: Error;
}

/** What of the server's catalogue a boundary has to know, to keep what a list hides from being used. */
export interface Listings {
  /** The list, and the page of it, that shows what a call names; undefined where nothing does. */
  pageShowing(
    method: DispatchedMethod,
    params: Params,
    exchange: Exchange,
  ): Listing | undefined | Promise<Listing | undefined>;
}

export interface BoundaryOptions {
  readonly server: string;
  readonly source: ChainSource;
  readonly settings: InterceptorSettings;
  readonly reports: InterceptorReports;
  readonly listings: Listings;
  readonly dispatch: Dispatch;
}

const isInputRequired = (result: unknown): result is InputRequiredResult =>
  (result as { resultType?: unknown } | undefined)?.resultType === 'input_required';

/** How often interceptors may answer all that a call asks of its client, so that it is never asked. */
const MAX_ANSWERED_ROUNDS = 10;

/** What a list is run through only to know what it shows. */
const LOOKED_UP = { mutatorsOnly: true } as const;

/** Runs the chain around everything that a server answers: requests are received, results are sent. */
export class Boundary {
  constructor(private readonly options: BoundaryOptions) {}

  /** @throws McpException for a message that was refused, or whatever the dispatcher throws */
  async dispatch(method: DispatchedMethod, params: Params, exchange: Exchange): Promise<Result> {
    const { dispatch } = this.options;
    const event = EVENT_OF[method] as string | undefined;
    if (event === undefined) return dispatch(method, params, exchange);
    let message: Message | undefined;
    try {
      message = await this.messageOf(method, event, exchange);
      const { request, payload } = await this.receive(message, params);
      const answer = request.response
        ? synthetic(method, request.response)
        : await this.handle(message, method, payload);
      if (isInputRequired(answer) || !message.chain.hooks(event, 'response')) {
        return this.withWarnings(answer, [request]);
      }
      const response = await this.send(message, answer, payload);
      return this.withWarnings(response.finalPayload as Result, [request, response]);
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
  async admitSubscription(uri: string, exchange: Exchange): Promise<void> {
    let message: Message | undefined;
    try {
      message = await this.messageOf('resources/subscribe', 'resources/subscribe', exchange);
      const { payload } = await this.receive(message, { uri });
      if (payload['uri'] !== uri) throw new Refused(unchangeable());
      await this.run(message, 'response', {}, payload);
    } catch (error) {
      throw error instanceof Refused ? error.denial : error;
    } finally {
      message?.end?.();
    }
  }

  /** The request phase: what a list hides cannot be used, neither as it was asked for nor as a mutator asks for it. */
  private async receive(
    message: Message,
    params: Params,
  ): Promise<{ request: ChainResult; payload: Params }> {
    if (this.mayHide(message, params)) await this.assertShown(message, params);
    const request = await this.run(message, 'request', params);
    const payload = request.finalPayload as Params;
    if (payload['name'] !== params['name'] || payload['uri'] !== params['uri']) {
      if (this.mayHide(message, payload)) await this.assertShown(message, payload);
    }
    return { request, payload };
  }

  /** Has a request handled. What the client is asked meanwhile, and answers, passes the chain as well. */
  private async handle(message: Message, method: DispatchedMethod, payload: Params): Promise<Result> {
    const { dispatch } = this.options;
    const { chain, exchange } = message;
    if (!chain.hooksAny(INPUT_EVENTS)) {
      return this.passInputRequired(message, await dispatch(method, payload, exchange), payload);
    }
    const crossing = this.crossingOf(message);
    const { ask } = exchange;
    let governed: Exchange = {
      ...exchange,
      ...(ask && { ask: crossing.asking(ask) }),
      receive: responses => crossing.received(responses),
    };
    for (let round = 0; round < MAX_ANSWERED_ROUNDS; round++) {
      const answer = await this.passInputRequired(
        message,
        await dispatch(method, payload, governed),
        payload,
      );
      if (!isInputRequired(answer)) return answer;
      const sent = await crossing.sent(answer);
      if ('result' in sent) return sent.result;
      governed = {
        ...governed,
        inputResponses: sent.answers,
        receive: undefined,
        requestState: <T>() => answer.requestState as T | undefined,
      };
    }
    throw new Error(`Interceptors answered ${MAX_ANSWERED_ROUNDS} rounds of ${method}, and it still asks`);
  }

  /** What asks the client for input is no result yet: only interceptors that say so see it. */
  private async passInputRequired(message: Message, answer: Result, payload: Params): Promise<Result> {
    if (!isInputRequired(answer) || !message.chain.hooks(message.event, 'response')) return answer;
    const checkPayload = (result: unknown) =>
      isInputRequired(result) ? undefined : 'it is no InputRequiredResult';
    const { finalPayload } = await this.run(message, 'response', answer, payload, {
      inputRequired: true,
      checkPayload,
    });
    return finalPayload as Result;
  }

  /**
   * Asks a client something that belongs to none of its requests.
   * @throws McpException where it was refused
   */
  async ask(
    exchange: Exchange,
    send: AskClient,
    ...[method, params, options]: Parameters<AskClient>
  ): Promise<Result> {
    const message = await this.messageOf(method, method, exchange);
    try {
      return await this.crossingOf(message).asking(send)(method, params, options);
    } finally {
      message.end?.();
    }
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

  /** The response phase. A subscription that it refuses must not stay. */
  private async send(message: Message, answer: Result, payload: Params): Promise<ChainResult> {
    try {
      return await this.run(message, 'response', answer, payload);
    } catch (error) {
      if (message.method === 'resources/subscribe') {
        await this.options.dispatch('resources/unsubscribe', payload, message.exchange);
      }
      throw error;
    }
  }

  /**
   * A message, with the chain that is for it. Finding that out is part of the request's time.
   * @throws Refused where a remote host could not be asked: nothing passes unchecked
   */
  private async messageOf(method: string, event: string, exchange: Exchange): Promise<Message> {
    const { source, reports, settings } = this.options;
    const deadline = performance.now() + settings.timeoutMs;
    try {
      const caller = () => ({ context: contextOf(exchange), headers: exchange.http?.headers ?? {} });
      const current = source.current(exchange.signal, caller, settings.timeoutMs);
      const { chain, end } = current instanceof Promise ? await current : current;
      const message = new Message(chain, method, event, exchange, deadline);
      message.end = end;
      return message;
    } catch (error) {
      reports.undiscovered(error);
      throw new Refused(undiscovered());
    }
  }

  private async run(
    message: Message,
    phase: Phase,
    payload: unknown,
    request?: unknown,
    extra: Pick<ChainParams, 'mutatorsOnly' | 'inputRequired' | 'checkPayload'> = {},
  ): Promise<ChainResult> {
    const { settings } = this.options;
    const { chain, event, method, exchange, isAsked, deadline } = message;
    if (!chain.hooks(event, phase)) return passed({ event, phase, payload });
    const params: ChainParams = {
      event,
      phase,
      direction: isAsked === (phase === 'request') ? 'send' : 'receive',
      payload,
      request,
      context: message.context,
      bag: message.bag,
      signal: exchange.signal,
      protocolVersion: exchange.protocolVersion,
      timeoutMs:
        phase === 'request' && deadline !== undefined ? deadline - performance.now() : settings.timeoutMs,
      checkPayload: payloadCheck(method, phase),
      ...extra,
    };
    const result = await chain.execute(params);
    const isRefused = result.status !== 'success';
    // What only was looked up crossed no boundary; but that somebody failed is told.
    if (!extra.mutatorsOnly || isRefused || result.results.some(({ failedOpen }) => failedOpen)) {
      const { server, reports } = this.options;
      reports.publish({ server, direction: params.direction, result, context: message.context });
    }
    if (isRefused) throw new Refused(denialOf(result, settings.timeoutMs));
    return result;
  }

  private mayHide({ chain, method }: Message, params: Params): boolean {
    const event = listOf(method as DispatchedMethod, params);
    return event !== undefined && (chain.mutates(event, 'request') || chain.mutates(event, 'response'));
  }

  /** What a list's mutators hide from this caller cannot be used by it, either. */
  private async assertShown(message: Message, params: Params): Promise<void> {
    const { chain, exchange, deadline } = message;
    const method = message.method as DispatchedMethod;
    const showing = this.options.listings.pageShowing(method, params, exchange);
    const listing = showing instanceof Promise ? await this.inTime(message, showing) : showing;
    if (listing === undefined) return;
    const list = new Message(chain, listing.method, EVENT_OF[listing.method], exchange, deadline);
    const request = await this.run(list, 'request', {}, undefined, LOOKED_UP);
    const shown = request.response ? synthetic(listing.method, request.response) : listing.result;
    const { finalPayload } = await this.run(list, 'response', shown, request.finalPayload, LOOKED_UP);
    // Answered like what does not exist, so that nobody can tell the two apart.
    if (!listing.isShown(finalPayload)) throw listing.refusal;
  }

  /** @throws Refused where a list that has to be looked at does not come within the request's time */
  private async inTime<T>({ deadline, event }: Message, listed: Promise<T>): Promise<T> {
    if (deadline === undefined) return listed;
    const { timeoutMs } = this.options.settings;
    const isUp = AbortSignal.timeout(Math.max(0, Math.floor(deadline - performance.now())));
    try {
      return await unlessAborted(listed, isUp);
    } catch (error) {
      if (error !== isUp.reason) throw error;
      throw new Refused(
        denialOf({ ...passed({ event, phase: 'request', payload: {} }), status: 'timeout' }, timeoutMs),
      );
    }
  }

  private withWarnings(result: Result, runs: readonly ChainResult[]): Result {
    if (!this.options.settings.warnings) return result;
    const warnings = runs.flatMap(({ results }) => results.flatMap(warningsOf));
    return warnings.length === 0
      ? result
      : { ...result, _meta: { ...result._meta, [WARNINGS_META]: warnings } };
  }
}

/** The list that shows what a method uses. A completion is for a prompt, or for a template of resources. */
const listOf = (method: DispatchedMethod, params: Params): string | undefined => {
  if (method !== 'completion/complete') return LISTED_BY[method];
  const { type } = (params['ref'] ?? {}) as { type?: unknown };
  return type === 'ref/prompt' ? 'prompts/list' : 'resources/list';
};

const LISTED_BY: Partial<Record<DispatchedMethod, string>> = {
  'tools/call': 'tools/list',
  'prompts/get': 'prompts/list',
  'resources/read': 'resources/list',
  'resources/subscribe': 'resources/list',
};

/** One message, and what its two phases share. */
class Message {
  readonly bag: ExchangeBag;
  /** Lets go of what was held for it. */
  end?: () => void;
  private known?: ReturnType<typeof contextOf>;

  constructor(
    readonly chain: Chain,
    readonly method: string,
    readonly event: string,
    readonly exchange: Exchange,
    /** When the request's time is up, on the process's clock. */
    readonly deadline?: number,
    /** What this message is part of. */
    private readonly parent?: Message,
  ) {
    this.bag = parent?.bag ?? new ExchangeBag({ request: exchange.http?.request }, exchange.http?.headers);
  }

  /** Whether it is this server that asks. */
  get isAsked(): boolean {
    return this.parent !== undefined;
  }

  get context(): ReturnType<typeof contextOf> {
    return this.parent?.context ?? (this.known ??= contextOf(this.exchange));
  }

  /** What the client is asked on behalf of this message. Its time is its own: people answer it. */
  asking(method: string): Message {
    return new Message(this.chain, method, method, this.exchange, undefined, this);
  }
}

class Refused extends Error {
  constructor(readonly denial: McpException) {
    super(denial.message);
  }
}

function synthetic(
  method: DispatchedMethod,
  { interceptor, result }: NonNullable<ChainResult['response']>,
): Result {
  const { _meta } = result as Result;
  const answer = { ...result, _meta: { ..._meta, [SYNTHETIC_META]: { interceptor } } };
  const problem = payloadCheck(method, 'response')?.(answer);
  if (problem === undefined) return answer;
  throw new Error(`${interceptor} answered ${method} with something that is no answer: ${problem}`);
}

function toolError({ data, message }: McpException): CallToolResult {
  const { validationErrors = [] } = (data ?? {}) as {
    validationErrors?: { message: string; path?: string }[];
  };
  const said = validationErrors.map(({ path, message: text }) => (path ? `${path}: ${text}` : text));
  return { content: [{ type: 'text', text: [message, ...said].join('\n') }], isError: true };
}

const warningsOf = ({ interceptor, mode, messages = [] }: EntryResult): object[] =>
  mode === 'audit'
    ? []
    : messages
        .filter(({ severity }) => severity !== 'error')
        .map(({ path, message, severity }) => ({
          interceptor,
          severity,
          message,
          ...(path !== undefined && { path }),
        }));
