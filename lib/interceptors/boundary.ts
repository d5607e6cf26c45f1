import type { CallToolResult, Result } from '@modelcontextprotocol/server';
import type { McpException } from '../exceptions/mcp.exception.js';
import type { DispatchedMethod, Params } from '../server/dispatcher.js';
import type { Exchange } from '../server/exchange.js';
import type { Chain } from './chain/chain.js';
import type { ChainParams } from './chain/params.js';
import { passed, type ChainResult, type EntryResult } from './chain/result.js';
import { denialOf } from './denial.js';
import { contextOf } from './hosts/context.js';
import { ExchangeBag } from './hosts/origin.js';
import { payloadCheck } from './hosts/payload-check.js';
import type { InterceptorSettings } from './interceptor-options.js';
import type { Phase } from './protocol/types.js';
import type { InterceptorReports } from './reports.js';

type Dispatch = (method: DispatchedMethod, params: Params, exchange: Exchange) => Promise<Result>;

/** The event that a method is hooked by; a method without one is not intercepted. */
const EVENTS: Partial<Record<DispatchedMethod, string>> = {
  'tools/list': 'tools/list',
  'tools/call': 'tools/call',
  'prompts/list': 'prompts/list',
  'prompts/get': 'prompts/get',
  'resources/list': 'resources/list',
  'resources/templates/list': 'resources/list',
  'resources/read': 'resources/read',
  'resources/subscribe': 'resources/subscribe',
  'completion/complete': 'completion/complete',
};

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
  pageShowing(method: DispatchedMethod, params: Params): Listing | undefined;
}

export interface BoundaryOptions {
  readonly server: string;
  readonly chain: Chain;
  readonly settings: InterceptorSettings;
  readonly reports: InterceptorReports;
  readonly listings: Listings;
  readonly dispatch: Dispatch;
}

/** Runs the chain around everything that a server answers: requests are received, results are sent. */
export class Boundary {
  constructor(private readonly options: BoundaryOptions) {}

  /** @throws McpException for a message that was refused, or whatever the dispatcher throws */
  async dispatch(method: DispatchedMethod, params: Params, exchange: Exchange): Promise<Result> {
    const { chain, dispatch } = this.options;
    const event = EVENTS[method];
    if (event === undefined) return dispatch(method, params, exchange);
    const message = new Message(method, event, exchange);
    try {
      await this.assertShown(message, params);
      const request = await this.run(message, 'request', params);
      const payload = request.finalPayload as Params;
      const answer = request.response
        ? synthetic(method, request.response)
        : await dispatch(method, payload, exchange);
      // What asks the client for input is no result yet.
      if (answer['resultType'] === 'input_required' || !chain.hooks(event, 'response')) {
        return this.withWarnings(answer, [request]);
      }
      const response = await this.run(message, 'response', answer, payload);
      return this.withWarnings(response.finalPayload as Result, [request, response]);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (method !== 'tools/call' || this.options.settings.denial !== 'tool-error') throw error.denial;
      return toolError(error.denial);
    }
  }

  /**
   * Runs the request phase for a subscription that does not pass through `dispatch` (`subscriptions/listen`).
   * @throws McpException where it was refused
   */
  async admitSubscription(uri: string, exchange: Exchange): Promise<void> {
    try {
      await this.run(new Message('resources/subscribe', 'resources/subscribe', exchange), 'request', { uri });
    } catch (error) {
      throw error instanceof Refused ? error.denial : error;
    }
  }

  private async run(
    message: Message,
    phase: Phase,
    payload: unknown,
    request?: unknown,
    mutatorsOnly = false,
  ): Promise<ChainResult> {
    const { chain, settings } = this.options;
    const { event, method, exchange } = message;
    if (!chain.hooks(event, phase)) return passed({ event, phase, payload });
    const params: ChainParams = {
      event,
      phase,
      direction: phase === 'request' ? 'receive' : 'send',
      payload,
      request,
      context: message.context,
      bag: message.bag,
      signal: exchange.signal,
      protocolVersion: exchange.protocolVersion,
      timeoutMs: settings.timeoutMs,
      config: settings.config,
      checkPayload: payloadCheck(method, phase),
      mutatorsOnly,
    };
    const result = await chain.execute(params);
    const isRefused = result.status !== 'success';
    // What only was looked up crossed no boundary.
    if (isRefused || !mutatorsOnly) {
      const { server, reports } = this.options;
      reports.publish({ server, direction: params.direction, result, context: message.context });
    }
    if (isRefused) throw new Refused(denialOf(result, settings.timeoutMs));
    return result;
  }

  /** What a list's mutators hide from this caller cannot be used by it, either. */
  private async assertShown(message: Message, params: Params): Promise<void> {
    const { chain, listings } = this.options;
    const { method, exchange } = message;
    const event = LISTED_BY[method];
    if (event === undefined || !chain.mutates(event, 'response')) return;
    const listing = listings.pageShowing(method, params);
    if (listing === undefined) return;
    const list = new Message(listing.method, event, exchange);
    const { finalPayload } = await this.run(list, 'response', listing.result, {}, true);
    // Answered like what does not exist, so that nobody can tell the two apart.
    if (!listing.isShown(finalPayload)) throw listing.refusal;
  }

  private withWarnings(result: Result, runs: readonly ChainResult[]): Result {
    if (!this.options.settings.warnings) return result;
    const warnings = runs.flatMap(({ results }) => results.flatMap(warningsOf));
    return warnings.length === 0
      ? result
      : { ...result, _meta: { ...result._meta, [WARNINGS_META]: warnings } };
  }
}

/** The list that shows what a method uses. */
const LISTED_BY: Partial<Record<DispatchedMethod, string>> = {
  'tools/call': 'tools/list',
  'prompts/get': 'prompts/list',
  'resources/read': 'resources/list',
  'resources/subscribe': 'resources/list',
};

/** One message, and what its two phases share. */
class Message {
  readonly bag: ExchangeBag;
  private known?: ReturnType<typeof contextOf>;

  constructor(
    readonly method: DispatchedMethod,
    readonly event: string,
    readonly exchange: Exchange,
  ) {
    this.bag = new ExchangeBag({ request: exchange.http?.request });
  }

  get context(): ReturnType<typeof contextOf> {
    return (this.known ??= contextOf(this.exchange));
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
