import { Logger } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import {
  isInputRequiredResult,
  ProtocolError,
  type Implementation,
  type LoggingLevel,
  type Result,
  type ServerCapabilities,
} from '@modelcontextprotocol/server';
import { unlessAborted } from '../util/abort.js';
import { AuthChallenge } from '../exceptions/auth-challenge.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { callerOf } from '../protocol/caller.js';
import { LimitReached } from '../protocol/caller-limit.js';
import { notifierOver, type ChangeNotifier } from '../protocol/changes.js';
import type { ClientChannel, Era, McpCall, Params } from '../protocol/mcp-call.js';
import { TASKS_EXTENSION } from '../protocol/tasks.js';
import type { TaskSubscription } from '../connection/task-subscriptions.js';
import { BackendConnection, type ConnectionOwner } from './backend-connection.js';
import { BackendDownError, toClientError, withoutDetail } from './backend-error.js';
import { BackendLog, optionOf, problemOf } from './backend-log.js';
import { Call } from './call.js';
import { CallerLists } from './caller-lists.js';
import { CallerTokens } from './caller-tokens.js';
import { askable, callerKey, resultFor, viewBy } from './caller-params.js';
import type { CallerStates } from './caller-states.js';
import { BackendLimit, type ListDeadlines } from './caller-waits.js';
import {
  LIST_CHANGES,
  notifyChange,
  paced,
  RESOURCE_UPDATED,
  type SessionConnection,
} from './session-connection.js';
import { ConnectionManager } from './connection-manager.js';
import { ForwardedCalls } from './forwarded-calls.js';
import type { GatewayBackend } from './gateway-options.js';
import { ListedNames } from './listed-names.js';
import { withoutOldTasks } from './old-tasks.js';
import type { GatewaySettings } from './resolve-options.js';
import { SharedBackendSession } from './shared-backend-session.js';
import type { SuspendedCalls } from './suspended-calls.js';
import type { Traffic } from '../protocol/traffic.js';
import { isList, offers } from '../protocol/methods.js';

export interface BackendDescription {
  readonly era: Era;
  readonly info?: Implementation;
  readonly instructions?: string;
  readonly capabilities: ServerCapabilities;
}

/** The part of the gateway that its backends use. */
interface BackendHost {
  readonly settings: GatewaySettings;
  readonly suspended: SuspendedCalls;
  readonly states: CallerStates;
  readonly deadlines: ListDeadlines;
  readonly changes: ChangeNotifier | undefined;
  readonly traffic?: Traffic;
  readonly clients: Iterable<ClientChannel>;
  described(): void;
  report(error: Error): void;
}

/**
 * One server behind a gateway. The base connection is for the description and changes.
 * A 2026-era backend uses it for all requests. A 2025-era backend asks its clients on their connections, so it gets one
 * for each 2025-era session and a pool for other callers.
 */
export class Backend {
  description?: BackendDescription;
  readonly lists: CallerLists;
  readonly names = new ListedNames();
  readonly name: string;
  private readonly calls: BackendLimit;
  private readonly connections: ConnectionManager;
  private readonly base: BackendConnection;
  private readonly log: BackendLog;
  private readonly forwarded: ForwardedCalls;
  private readonly withoutOldTasks: (page: Result) => Result;
  private readonly tokens?: CallerTokens;
  readonly report = (error: Error): void => this.host.report(error);
  private readonly onFailure = (thrown: unknown): void => this.log.failed(problemOf(thrown, this));

  constructor(
    readonly prefix: string | undefined,
    readonly options: GatewayBackend,
    private readonly host: BackendHost,
  ) {
    const { name, limits, caps } = host.settings;
    this.name = prefix === undefined ? name : `${name}/${prefix}`;
    const logger = new Logger(`McpGateway(${name})`);
    this.log = new BackendLog(this.name, logger);
    this.withoutOldTasks = withoutOldTasks(this.name, logger);
    const { tokenFor, connectTimeoutMs = TOKEN_MS } = options;
    const noToken = (reason: string) =>
      this.log.failed(
        `The backend "${this.name}" cannot be called, for ${optionOf(prefix, 'tokenFor')} returned no token: ${reason}`,
      );
    this.tokens = tokenFor && new CallerTokens(tokenFor, connectTimeoutMs, noToken);
    const open = this.open.bind(this);
    this.connections = new ConnectionManager(limits, open, this.report);
    const what = `of the backend "${prefix}"`;
    this.calls = new BackendLimit(`calls ${what}`, caps);
    this.lists = new CallerLists(
      limits.listTimeoutMs,
      host.deadlines,
      new BackendLimit(`calls that wait for a list ${what}`, caps),
      exchange => this.viewOf(exchange),
      this.ask.bind(this),
      this.onFailure,
    );
    const owner = this.ownerOf((method, params) => this.publish(method, params));
    const opened = (client: Client) => this.describe(client);
    this.base = new BackendConnection(this.name, options, { ...owner, opened }, true);
    this.forwarded = new ForwardedCalls(this, this.base, this.connections, host);
  }

  /** @throws McpException if the backend cannot be reached */
  ready(signal: AbortSignal): Promise<BackendDescription> {
    return this.withClientErrors(signal, async () => {
      if (!this.base.isOpen || !this.description) await this.base.client(signal);
      return this.description!;
    });
  }

  /** Whether the backend answers now: an HTTP connection looks open while its server is gone. Never rejects. */
  async isUp(signal: AbortSignal): Promise<boolean> {
    try {
      const { era } = await this.ready(signal);
      await this.base.request(era === 'modern' ? 'server/discover' : 'ping', {}, { signal });
      return true;
    } catch (error) {
      // It answers, although it does not know the method.
      return error instanceof ProtocolError;
    }
  }

  /** Like `ready`, but waits only briefly for a backend that was down, because others can answer too. */
  async readySoon(signal: AbortSignal): Promise<BackendDescription> {
    if (!this.base.isFailing) return this.ready(signal);
    this.keepTrying();
    const patience = AbortSignal.timeout(PATIENCE_MS);
    return this.withClientErrors(signal, () => unlessAborted(this.ready(signal), patience));
  }

  keepTrying(): void {
    this.base.keepOpen();
  }

  offers(method: string): boolean {
    return offers(this.description?.capabilities ?? {}, method);
  }

  /** Whether calls of tools can become tasks (2026-07-28). */
  get hasTasks(): boolean {
    const { era, capabilities: { extensions = {} } = {} } = this.description ?? {};
    return era === 'modern' && Object.hasOwn(extensions, TASKS_EXTENSION);
  }

  /** Asks one of several backends; undefined if it does not have the method, is down or keeps its caller waiting. */
  async ifUp<T>(
    method: string,
    { reply: { signal } }: McpCall,
    ask: () => Promise<T>,
  ): Promise<T | undefined> {
    let isKnown = false;
    try {
      await this.readySoon(signal);
      isKnown = true;
      return this.offers(method) ? await ask() : undefined;
    } catch (error) {
      const isLimited = error instanceof LimitReached;
      const isDown = error instanceof BackendDownError || error instanceof AuthChallenge || isLimited;
      if (signal.aborted || (isKnown && !isDown)) throw error;
      this.keepTrying();
      return undefined;
    }
  }

  async request(method: string, params: Params, exchange: McpCall): Promise<Result> {
    const ask = () => this.ask(method, params, exchange);
    const result = await (isList(method) ? this.lists.wait(exchange, ask) : this.calls.hold(exchange, ask));
    return resultFor(exchange.era, result);
  }

  /**
   * Listens for tasks of the caller, until the call ends.
   * @throws McpException if the backend cannot be reached, or refuses
   */
  listenToTasks(
    taskIds: readonly string[],
    exchange: McpCall,
    onTask: (task: Params) => void,
  ): Promise<TaskSubscription> {
    const { signal } = exchange.reply;
    const listen = () => this.base.listenToTasks(taskIds, new Call(exchange), signal, onTask);
    return this.calls.hold(exchange, () => this.withClientErrors(signal, listen));
  }

  /** An error of the backend, as callers may see it. */
  told(error: Error): Error {
    return this.host.settings.passthrough ? error : withoutDetail(error, this.name);
  }

  subscribe(uri: string, exchange: McpCall): Promise<void> {
    const { channel, reply, authInfo, http } = exchange;
    const { signal } = reply;
    const subscribe = async () => {
      const { era } = await this.ready(signal);
      const own = channel && era === 'legacy' ? this.connections.connectionOf(channel) : undefined;
      if (own) await own.actFor(new Call(exchange));
      // The gateway listens with its own credentials, so the backend cannot refuse the caller. A list may also show what
      // the caller cannot use.
      else if (this.tokens) await this.assertReadable(uri, exchange);
      if (channel) {
        const connection = own ?? this.base;
        return this.connections.sessionOf(channel).subscribe(uri, connection);
      }
      const end = await this.base.subscriptions.add(uri, callerOf(authInfo, http?.request), signal);
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    };
    return this.calls.hold(exchange, () => this.withClientErrors(signal, subscribe));
  }

  /** @throws McpException if the backend refuses the caller, or asks before it decides */
  private async assertReadable(uri: string, exchange: McpCall): Promise<void> {
    const result = await this.ask('resources/read', { uri }, exchange);
    if (!isInputRequiredResult(result)) return;
    const problem = `The server behind this gateway asks for input before it allows ${uri}; read the resource instead`;
    throw new McpException(McpErrorCode.Refused, problem);
  }

  unsubscribe(uri: string, { channel }: McpCall): void {
    this.connections.known(channel)?.unsubscribe(uri);
  }

  async setLevel(params: Params, exchange: McpCall): Promise<Result> {
    const { channel } = exchange;
    if (channel) this.connections.sessionOf(channel).level = params['level'] as LoggingLevel;
    const { era } = await this.ready(exchange.reply.signal);
    if (era === 'modern' || !this.offers('logging/setLevel')) return {};
    return this.request('logging/setLevel', params, exchange);
  }

  /** Whether each node needs connections of its own for a client: any other than to a 2025-era server over HTTP. */
  get isBound(): boolean {
    return this.options.url === undefined || this.tokens !== undefined || this.description?.era !== 'legacy';
  }

  /** A 2025-era backend may ask and notify a client as soon as it is connected. */
  opened(channel: ClientChannel): void {
    const { shared } = channel;
    // Without a request, the caller is not known.
    if (this.description?.era !== 'legacy' || this.tokens || shared?.isHome === false) return;
    try {
      const connection = this.connections.connectionOf(channel);
      connection
        .client()
        .then(() => shared && connection.listen())
        .catch(this.report);
    } catch (error) {
      this.report(error as Error);
    }
  }

  notified(channel: ClientChannel, method: string, params: Params | undefined): void {
    this.connections.known(channel)?.notify(method, params);
  }

  closed(channel: ClientChannel): void {
    const session = this.connections.known(channel);
    if (session) this.lists.forget(session.id);
    this.connections.closed(channel);
  }

  async close(): Promise<void> {
    await Promise.all([this.base.close(), this.connections.close()]);
  }

  private viewOf(exchange: McpCall): string {
    const view = this.connections.known(exchange.channel)?.id ?? callerKey(exchange);
    // A caller may come back with more scopes, or with less.
    return this.tokens ? viewBy(view, exchange.authInfo?.scopes) : view;
  }

  /** Like `request`, but returns the result unchanged for any era. */
  private ask(method: string, params: Params, exchange: McpCall): Promise<Result> {
    const { states } = this.host;
    return this.withClientErrors(exchange.reply.signal, async () => {
      const isOpen = this.connections.known(exchange.channel)?.isOpen;
      const era = isOpen ? 'legacy' : (await this.ready(exchange.reply.signal)).era;
      const state = await states.open(this.prefix, params, exchange);
      const answer = await this.forwarded[era](method, params, exchange, state);
      this.log.answered();
      const result = era === 'legacy' && method === 'tools/list' ? this.withoutOldTasks(answer) : answer;
      this.names.learn(method, result);
      return states.seal(result, this.prefix, params, exchange);
    });
  }

  private async withClientErrors<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ProtocolError) this.log.answered();
      throw this.told(toClientError(error, this.onFailure, signal));
    }
  }

  private open(
    capabilities: McpCall['clientCapabilities'],
    session: SessionConnection | undefined,
  ): BackendConnection {
    const options: GatewayBackend = {
      ...this.options,
      capabilities: askable(capabilities),
      era: 'legacy',
      // A caller must not act with the gateway's own rights.
      ...(this.tokens && { auth: undefined }),
    };
    // The clients of the pool hear of changes through the base.
    if (!session)
      return new BackendConnection(
        this.name,
        options,
        this.ownerOf(() => undefined),
        true,
      );
    const tell = (method: string, params: Params) => {
      if (!this.isForeign(method, params, session)) session.tell(method, params);
    };
    const opened = (client: Client) => {
      if (session.level) client.setLoggingLevel(session.level).catch(this.report);
    };
    const { shared } = session.channel;
    const owner = {
      ...this.ownerOf(tell, session),
      opened,
      session:
        shared && !this.isBound
          ? new SharedBackendSession(shared, this.name, this.prefix === undefined)
          : undefined,
    };
    return new BackendConnection(this.name, options, owner, false);
  }

  /** @param tell gets the notifications that belong to no call */
  private ownerOf(
    tell: (method: string, params: Params) => void,
    session?: SessionConnection,
  ): ConnectionOwner {
    const { settings } = this.host;
    const tellChange = paced(tell, CHANGES_MS);
    return {
      settings,
      tokens: this.tokens,
      report: this.report,
      observer: url =>
        this.host.traffic?.at({
          side: 'client',
          name: this.name,
          url,
          isListed: (kind, name) => this.names.has(kind, name),
        }),
      asked: async (method, params, call, options) => {
        if (call) return call.ask(method, params, options);
        if (session) return session.channel.request(method, params, options);
        throw new McpException(McpErrorCode.MethodNotFound, 'It cannot be told which client is asked');
      },
      notified: (method, params, call) => {
        if (method === 'notifications/message' && call) return call.log(params);
        if (!LIST_CHANGES.includes(method)) return tell(method, params);
        this.forgetLists(session);
        tellChange(method, params);
      },
      renewed: () => {
        this.forgetLists(session);
        for (const change of LIST_CHANGES) tellChange(change, {});
      },
    };
  }

  /** The views of a session with `tokenFor` have other names. */
  private forgetLists(session: SessionConnection | undefined): void {
    this.lists.forget(this.tokens ? undefined : session?.id);
  }

  private describe(client: Client): void {
    this.description = {
      era: client.getProtocolEra() === 'modern' ? 'modern' : 'legacy',
      info: client.getServerVersion(),
      instructions: client.getInstructions(),
      capabilities: client.getServerCapabilities() ?? {},
    };
    this.host.described();
    this.base.subscriptions.listenToLists(client);
  }

  private publish(method: string, params: Params): void {
    if (this.isForeign(method, params, this.base.subscriptions)) return;
    const { changes, clients } = this.host;
    if (changes) notifyChange(changes, method, params);
    if (this.description?.era !== 'modern') return;
    for (const channel of clients) notifyChange(notifierOver(channel.bus), method, params);
  }

  /** Whether the resource may belong to another backend: this backend has no subscription to it. */
  private isForeign(method: string, { uri }: Params, subscribed: { wants(uri: string): boolean }): boolean {
    return this.prefix !== undefined && method === RESOURCE_UPDATED && !subscribed.wants(String(uri));
  }
}

/** How long a backend that was down may keep requests to others waiting, in milliseconds. */
const PATIENCE_MS = 250;

/** The shortest time between two notifications of the same list's changes to clients, in milliseconds. */
const CHANGES_MS = 1000;

/** How long `tokenFor` may take without a `connectTimeoutMs`, in milliseconds. */
const TOKEN_MS = 10_000;
