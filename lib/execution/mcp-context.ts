import { Logger } from '@nestjs/common';
import {
  inputResponse,
  type AuthInfo,
  type ClientCapabilities,
  type CreateMessageRequestParams,
  type Implementation,
  type InputResponseView,
  type RequestId,
  type Root,
} from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import {
  inputRequest,
  type ElicitAnswer,
  type ElicitOptions,
  type ElicitUrlOptions,
  type InferSchema,
  type InputQuestion,
  type SampleAnswer,
} from '../input/input-request.js';
import type { Jsonify } from '../input/jsonify.js';
import { canAsk, type Asking, type CurrentAsking } from '../input/asking.js';
import { compileSchema } from '../schema/compile-schema.js';
import type { SchemaLike } from '../schema/types.js';
import type { HeaderParam } from '../headers/header-params.js';
import { headerArgument } from '../headers/header-value.js';
import type { ChangeNotifier } from '../protocol/changes.js';
import type { Era, McpCall } from '../protocol/mcp-call.js';
import { createLog, sendLog, type McpLog } from '../protocol/mcp-log.js';
import { toProgress, type Progress } from '../protocol/progress.js';

const logger = new Logger('McpContext');

/** What a handler knows of the call it serves, and what it can send while it runs. Injected by `@Ctx()`. */
export class McpContext {
  #log?: McpLog;

  /** @internal */
  constructor(
    private readonly call: McpCall,
    private readonly changes: ChangeNotifier,
    /** For a handler that can ask its client. */
    private readonly current?: CurrentAsking,
    private readonly headerParams: readonly HeaderParam[] = [],
    private readonly args?: unknown,
  ) {}

  /** Fires when the client cancels the call or goes away, and when the server shuts down. */
  get signal(): AbortSignal {
    return this.call.reply.signal;
  }

  /** JSON-RPC id of the request. */
  get requestId(): RequestId {
    return this.call.requestId;
  }

  /** The MCP method, such as `tools/call`. */
  get method(): string {
    return this.call.method;
  }

  /** `modern` for 2026-07-28, `legacy` for the 2025-era revisions. */
  get era(): Era {
    return this.call.era;
  }

  /** The revision that this request is served by, such as `2026-07-28`. */
  get protocolVersion(): string {
    return this.call.protocolVersion;
  }

  /** The session, on a 2025-era connection that has one. */
  get sessionId(): string | undefined {
    return this.call.sessionId;
  }

  /** What the application's own authentication put on `request.auth`. */
  get authInfo(): AuthInfo | undefined {
    return this.call.authInfo;
  }

  /** Name and version of the client, where it gave them. */
  get clientInfo(): Implementation | undefined {
    return this.call.clientInfo;
  }

  /** What the client can do, where it said so. */
  get clientCapabilities(): ClientCapabilities | undefined {
    return this.call.clientCapabilities;
  }

  /** The HTTP request's headers; empty over stdio. */
  get headers(): Readonly<Record<string, string | string[] | undefined>> {
    return this.call.http?.headers ?? {};
  }

  /**
   * The argument of a tool that clients repeat in the header `Mcp-Param-<name>`, as `@HeaderParam` gives it: for guards,
   * which run before the arguments are validated. It says what the call asks for, not what its caller may do.
   * @param name as in `@McpHeader(name)`, in whatever case
   * @returns undefined where the call has no such argument, or the tool declares no such header
   */
  headerParam(name: string): string | number | boolean | undefined {
    return headerArgument(this.headerParams, name, this.args);
  }

  /** Express's or Fastify's request; undefined over stdio. */
  get request(): object | undefined {
    return this.call.http?.request;
  }

  /** @internal Express's or Fastify's response. */
  get response(): object | undefined {
    return this.call.http?.response;
  }

  /** The request's `_meta`. */
  get meta(): Readonly<Record<string, unknown>> {
    return this.call.meta ?? {};
  }

  /**
   * Whether the client can be asked for input in the middle of this call: with an `InputRequiredException`, or with
   * `elicit`, `sample` and `roots`. True for tools, prompts and resources, of clients of 2026-07-28, and of 2025-era
   * clients over stdio or with a session.
   */
  get isMrtrSupported(): boolean {
    return canAsk(this.call);
  }

  /**
   * The client's answers to what the latest `InputRequiredException` or returned result asked, by key, as it gave them;
   * undefined before. What is awaited is answered there.
   */
  get inputResponses(): Readonly<Record<string, unknown>> | undefined {
    return this.call.inputResponses;
  }

  /**
   * The `requestState` of the latest `InputRequiredException`, as JSON; undefined if it had none.
   * `T` is believed and not checked: nobody but this server can have written the state.
   */
  requestState<T = unknown>(): NoInfer<T> | undefined {
    return this.current?.ifAny?.state as T | undefined;
  }

  /**
   * What the user filled into the form `key` of the latest round; undefined where it was declined, dismissed, left out,
   * or filled in otherwise than the schema asks.
   */
  async accepted<S extends SchemaLike>(key: string, schema: S): Promise<InferSchema<S> | undefined> {
    const view = inputResponse(this.inputResponses, key);
    if (view.kind !== 'elicit' || view.action !== 'accept') return undefined;
    const result = await (await compileSchema(schema, 'input')).validate(view.content ?? {});
    return result.ok ? (result.value as InferSchema<S>) : undefined;
  }

  /** The answer `key` of the latest round, by its kind; `missing` where there is none. */
  inputResponse(key: string): InputResponseView {
    return inputResponse(this.inputResponses, key);
  }

  /**
   * Asks the user to fill in a form, and waits for the answer, whichever way this connection has for that. Where the
   * handler has to run again for it, it is the same up to here: what is asked before, `step`, `now`, `uuid` and `random`
   * return what they returned in the earlier rounds.
   * @param key names the question among those of this handler; a loop may use one again, but not another place
   * @throws McpException (-32602) for an answer that the schema does not admit; MrtrError for a form that cannot be sent;
   *   whatever ends the round
   */
  elicit<const S extends SchemaLike>(
    key: string,
    options: ElicitOptions<S>,
  ): Promise<ElicitAnswer<InferSchema<S>>> {
    return this.asking.ask(key, () => inputRequest.elicit(options));
  }

  /** Asks the user to visit a page; see `elicit`. An accepted answer only says that the user agreed to. */
  elicitUrl(key: string, options: ElicitUrlOptions): Promise<ElicitAnswer<undefined>> {
    return this.asking.ask(key, () => inputRequest.elicitUrl(options));
  }

  /** Asks the client's model for a completion; see `elicit`. */
  sample(key: string, params: CreateMessageRequestParams): Promise<SampleAnswer> {
    return this.asking.ask(key, () => inputRequest.sample(params));
  }

  /** Asks for the folders that the client works on; see `elicit`. */
  roots(key = 'roots'): Promise<readonly Root[]> {
    return this.asking.ask(key, () => inputRequest.roots());
  }

  /** Asks several questions in one round, and waits for all answers, by the same keys; see `elicit`. */
  async askAll<Q extends Readonly<Record<string, InputQuestion>>>(
    questions: Q,
  ): Promise<{ [K in keyof Q]: Q[K]['answer'] }> {
    const answers = Object.entries(questions).map(async ([key, question]) => [
      key,
      await this.asking.ask(key, () => question),
    ]);
    return Object.fromEntries(await Promise.all(answers)) as { [K in keyof Q]: Q[K]['answer'] };
  }

  /**
   * Does something once in all rounds of this call, and remembers what came out, as JSON: it travels with the client.
   * @param key names the step among those of this handler; a loop may use one again, but not another place
   * @returns what JSON makes of the value, in the first round too: a `Date` becomes a string
   * @throws MrtrError for what JSON has no words for; whatever `work` throws. Where the handler goes on from that, later
   *   rounds do not try again, but throw an `Error` with the same `name`, of which nothing else is remembered
   */
  step<T>(key: string, work: () => T | Promise<T>): Promise<Jsonify<T>> {
    return this.asking.step(key, work);
  }

  /**
   * The time, in milliseconds since 1970, as the first round that came by here read it. What `now`, `uuid` and `random`
   * return goes by the order in which they are called. Paths under a `Promise.all` may come by in another order in the next
   * round: call them before it, or make the value in a `step` of each path.
   */
  now(): number {
    return this.asking.now();
  }

  /** A UUID that is the same in all rounds of this call; see `now`. It is no secret: it follows from what the client carries. */
  uuid(): string {
    return this.asking.uuid();
  }

  /** A number from 0 to below 1 that is the same in all rounds of this call; see `now`. */
  random(): number {
    return this.asking.random();
  }

  /** Whether what runs now has run in an earlier round. What `log` is given meanwhile is not sent again. */
  get isReplaying(): boolean {
    return this.current?.ifAny?.isReplaying ?? false;
  }

  /** How many rounds of questions came before: those of earlier runs of the handler, and those that it waited for. */
  get round(): number {
    return this.current?.ifAny?.number ?? 0;
  }

  /** The same in all rounds of this call, and in no other call. */
  get idempotencyKey(): string {
    return this.asking.id;
  }

  /** Tells the client how far the call is. Does nothing when the client did not ask for progress. */
  async reportProgress(progress: number | Progress, total?: number, message?: string): Promise<void> {
    const progressToken = this.meta['progressToken'];
    if (progressToken === undefined || this.signal.aborted) return;
    const report =
      typeof progress === 'number'
        ? { progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) }
        : progress;
    await this.tell(() => this.call.reply.notify('notifications/progress', { progressToken, ...report }));
  }

  /** A handler need not await what it tells its client: what cannot be sent is dropped, and never thrown. */
  private async tell(send: () => Promise<void>): Promise<void> {
    if (this.signal.aborted) return;
    try {
      await send();
    } catch (error) {
      if (this.signal.aborted) return;
      logger.warn(`A message of "${this.method}" to its client was not sent: ${(error as Error).message}`);
    }
  }

  /** @internal An Observable's earlier emission, as progress. */
  progressOf(value: unknown, index: number): void {
    void this.reportProgress(toProgress(value, index));
  }

  /**
   * Sends log messages to the client, as far as its level admits them (specification: server/utilities/logging). While the
   * handler `isReplaying`, nothing is sent: it was, in an earlier round. What is logged between the last step or answer and
   * an `InputRequiredException` is sent again in the next round, for the handler may take another way there.
   */
  get log(): McpLog {
    return (this.#log ??= createLog(async (level, data, logger) => {
      if (!this.isReplaying) await this.tell(() => sendLog(this.call, level, data, logger));
    }));
  }

  /** Tells every client that subscribed to the resource that it changed. */
  sendResourceUpdated(uri: string): void {
    this.changes.resourceUpdated(uri);
  }

  /** Tells every client that the list of tools changed. The registry does so by itself. */
  sendToolListChanged(): void {
    this.changes.toolsChanged();
  }

  /** Tells every client that the list of prompts changed. The registry does so by itself. */
  sendPromptListChanged(): void {
    this.changes.promptsChanged();
  }

  /** Tells every client that the list of resources changed. The registry does so by itself. */
  sendResourceListChanged(): void {
    this.changes.resourcesChanged();
  }

  /** @throws McpException (-32603) where nothing can be asked, as in a completion */
  private get asking(): Asking {
    if (this.current) return this.current.begin();
    throw new McpException(McpErrorCode.InternalError, `${this.method} cannot ask the client for input`);
  }
}
