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
  type TypedInputRequest,
  type SampleAnswer,
} from '../elicitation/requests/input-request.js';
import type { Jsonify } from '../elicitation/requests/jsonify.js';
import type { CurrentRound } from '../elicitation/replay/current-round.js';
import type { Round } from '../elicitation/replay/round.js';
import { canAsk } from '../elicitation/requests/errors.js';
import { compileSchema } from '../schema/compile-schema.js';
import type { SchemaLike } from '../schema/types.js';
import type { HeaderParam } from '../protocol/header-param.js';
import { headerArgument } from '../headers/header-value.js';
import type { ChangeNotifier } from '../protocol/changes.js';
import type { Era, McpCall } from '../protocol/mcp-call.js';
import { createLog, sendLog, type McpLog } from '../protocol/mcp-log.js';
import { toProgress, type Progress } from '../protocol/progress.js';

const logger = new Logger('McpContext');

/**
 * The call that a handler serves, with methods to talk to the client. `@Ctx()` injects it.
 * @example
 * ```ts
 * @Tool()
 * async index(@Args('files') files: number, @Ctx() ctx: McpContext) {
 *   await ctx.reportProgress({ progress: 1, total: files });
 *   await ctx.log('info', { files });
 * }
 * ```
 */
export class McpContext {
  #log?: McpLog;

  /** @internal */
  constructor(
    private readonly call: McpCall,
    private readonly changes: ChangeNotifier,
    private readonly current?: CurrentRound,
    private readonly headerParams: readonly HeaderParam[] = [],
    private readonly args?: unknown,
  ) {}

  /**
   * Aborts when the client cancels or disconnects, when the call takes too long, and when the server shuts down. In a
   * session, a call that has sent an event continues for `sessions.resumeMs` after its client has disconnected.
   */
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

  /** `modern` for revision 2026-07-28, `legacy` for 2025-11-25 and earlier ones. */
  get era(): Era {
    return this.call.era;
  }

  /** The revision of this request, such as `2026-07-28`. */
  get protocolVersion(): string {
    return this.call.protocolVersion;
  }

  /** The id of the session, for a client of revision 2025-11-25 or earlier that has one. */
  get sessionId(): string | undefined {
    return this.call.sessionId;
  }

  /** `request.auth`, set by the application's authentication. */
  get authInfo(): AuthInfo | undefined {
    return this.call.authInfo;
  }

  /** Name and version of the client, if known. */
  get clientInfo(): Implementation | undefined {
    return this.call.clientInfo;
  }

  /** The client's capabilities, if known. */
  get clientCapabilities(): ClientCapabilities | undefined {
    return this.call.clientCapabilities;
  }

  /** The HTTP request's headers; empty over stdio. */
  get headers(): Readonly<Record<string, string | string[] | undefined>> {
    return this.call.http?.headers ?? {};
  }

  /**
   * The argument that clients repeat in the header `Mcp-Param-<name>`. Guards see it before validation. It is the
   * caller's claim, not a permission.
   * @param name as in `@McpHeader(name)`, without case
   * @returns undefined for a missing argument or an undeclared header
   */
  headerParam(name: string): string | number | boolean | undefined {
    return headerArgument(this.headerParams, name, this.args);
  }

  /** The request object of Express or Fastify; undefined over stdio, and in runs of a task without its HTTP request. */
  get request(): object | undefined {
    return this.call.http?.request;
  }

  /** @internal The response object of Express or Fastify. */
  get response(): object | undefined {
    return this.call.http?.response;
  }

  /** The request's `_meta`. */
  get meta(): Readonly<Record<string, unknown>> {
    return this.call.meta ?? {};
  }

  /**
   * Whether this call can ask the client: with `InputRequiredException`, `elicit`, `sample` or `roots`. True for tools,
   * prompts and resources of revision 2026-07-28, and for clients of earlier revisions over stdio or with a session.
   */
  get isMrtrSupported(): boolean {
    return canAsk(this.call);
  }

  /**
   * The client's answers to the latest `InputRequiredException` or returned result, by key. Awaited answers are not
   * included.
   */
  get inputResponses(): Readonly<Record<string, unknown>> | undefined {
    return this.call.inputResponses;
  }

  /**
   * The `requestState` of the latest `InputRequiredException`, as JSON; undefined without it. `T` is not checked,
   * because only this server can have written the state.
   */
  requestState<T = unknown>(): NoInfer<T> | undefined {
    return this.current?.ifAny?.state as T | undefined;
  }

  /** The content of form `key` in the latest round. Undefined unless the user accepted it and it is valid. */
  async accepted<S extends SchemaLike>(key: string, schema: S): Promise<InferSchema<S> | undefined> {
    const view = inputResponse(this.inputResponses, key);
    if (view.kind !== 'elicit' || view.action !== 'accept') return undefined;
    const result = await (await compileSchema(schema, 'input')).validate(view.content ?? {});
    return result.ok ? (result.value as InferSchema<S>) : undefined;
  }

  /** The answer `key` of the latest round, by its kind. Its kind is `missing` without an answer. */
  inputResponse(key: string): InputResponseView {
    return inputResponse(this.inputResponses, key);
  }

  /**
   * Asks the user to fill in a form, and waits for the answer. If the handler has to run again, earlier input requests,
   * `step`, `now`, `uuid` and `random` return their earlier results.
   * @param key identifies the input request in this handler; only a loop may use it again
   * @throws McpException (-32602) for an answer that does not match the schema; MrtrError for an invalid form. Do not
   * catch the error that ends the round
   */
  elicit<const S extends SchemaLike>(
    key: string,
    options: ElicitOptions<S>,
  ): Promise<ElicitAnswer<InferSchema<S>>> {
    return this.asking.ask(key, () => inputRequest.elicit(options));
  }

  /** Asks the user to visit a page; see `elicit`. An accepted answer only means that the user agreed to visit it. */
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

  /** Asks several input requests in one round; see `elicit`. The answers have the same keys. */
  async askAll<Q extends Readonly<Record<string, TypedInputRequest>>>(
    requests: Q,
  ): Promise<{ [K in keyof Q]: Q[K]['answer'] }> {
    const keys = Object.keys(requests);
    const answers: Promise<unknown>[] = [];
    for (const key of keys) answers.push(this.asking.ask(key, () => requests[key]));
    const given = await Promise.all(answers);
    return Object.fromEntries(keys.map((key, place) => [key, given[place]])) as {
      [K in keyof Q]: Q[K]['answer'];
    };
  }

  /**
   * Runs `work` once in all rounds of this call, and records the result as JSON, which travels with the client.
   * @param key identifies the step in this handler; only a loop may use it again
   * @returns the value after JSON, in all rounds: a `Date` becomes a string
   * @throws MrtrError for a value without JSON, and errors of `work`. A failed step is not retried: later rounds throw
   * an `Error` that keeps only its `name`
   */
  step<T>(key: string, work: () => T | Promise<T>): Promise<Jsonify<T>> {
    return this.asking.step(key, work);
  }

  /**
   * Milliseconds since 1970, the same in all rounds. `now`, `uuid` and `random` depend on the order of their calls:
   * call them before a `Promise.all`. A step refuses them.
   */
  now(): number {
    return this.asking.now();
  }

  /** A UUID, the same in all rounds; see `now`. It is not a secret: the client can derive it. */
  uuid(): string {
    return this.asking.uuid();
  }

  /** A number of at least 0 and below 1, the same in all rounds; see `now`. */
  random(): number {
    return this.asking.random();
  }

  /** Whether an earlier round already ran this code. During a replay, `log` does not send messages. */
  get isReplaying(): boolean {
    return this.current?.ifAny?.isReplaying ?? false;
  }

  /** The number of earlier rounds, including rounds during which the handler waited. */
  get round(): number {
    return this.current?.ifAny?.number ?? 0;
  }

  /** Identifies this call, the same in all rounds. */
  get idempotencyKey(): string {
    return this.asking.id;
  }

  /**
   * Sends progress, and restarts the time of `calls.timeoutMs`. Nothing is sent if the client did not ask for progress.
   */
  async reportProgress(progress: number | Progress, total?: number, message?: string): Promise<void> {
    this.call.reply.extend?.();
    const progressToken = this.meta['progressToken'];
    if (progressToken === undefined || this.signal.aborted) return;
    const report =
      typeof progress === 'number'
        ? { progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) }
        : progress;
    await this.tell(() => this.call.reply.notify('notifications/progress', { progressToken, ...report }));
  }

  /**
   * Ends the connection of the call's event stream; the client reconnects for the rest (2025-11-25: basic/transports).
   * The call continues. Without a session, the method does nothing.
   * @param retryMs delay before the client reconnects, in milliseconds. Default: 1,000
   */
  closeStream(retryMs = 1000): void {
    this.call.reply.pause?.(retryMs);
  }

  /** Logs a failure and never throws, because handlers need not await messages. */
  private async tell(send: () => Promise<void>): Promise<void> {
    if (this.signal.aborted) return;
    try {
      await send();
    } catch (error) {
      if (this.signal.aborted) return;
      logger.warn(`A message of "${this.method}" to its client was not sent: ${(error as Error).message}`);
    }
  }

  /** @internal Sends an earlier value of an Observable as progress. */
  progressOf(value: unknown, index: number): void {
    void this.reportProgress(toProgress(value, index));
  }

  /**
   * Sends log messages to the client, at its level or above (specification: server/utilities/logging). The server sends
   * each message once, even if the handler runs again. Messages after the last step or answer are sent again.
   */
  get log(): McpLog {
    return (this.#log ??= createLog(async (level, data, logger) => {
      if (!this.isReplaying) await this.tell(() => sendLog(this.call, level, data, logger));
    }));
  }

  /** Notifies the clients that subscribed to the resource. */
  sendResourceUpdated(uri: string): void {
    this.changes.resourceUpdated(uri);
  }

  /** Notifies all clients. `McpServerRegistry` notifies them itself. */
  sendToolListChanged(): void {
    this.changes.toolsChanged();
  }

  /** Notifies all clients. `McpServerRegistry` notifies them itself. */
  sendPromptListChanged(): void {
    this.changes.promptsChanged();
  }

  /** Notifies all clients. `McpServerRegistry` notifies them itself. */
  sendResourceListChanged(): void {
    this.changes.resourcesChanged();
  }

  /** @throws McpException (-32603) if the handler cannot ask, such as a completion */
  private get asking(): Round {
    if (this.current) return this.current.begin();
    throw new McpException(McpErrorCode.InternalError, `${this.method} cannot ask the client for input`);
  }
}
