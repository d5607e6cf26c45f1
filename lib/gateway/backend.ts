import { isDeepStrictEqual } from 'node:util';
import { Logger } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import {
  ProtocolError,
  type Implementation,
  type LoggingLevel,
  type Result,
  type ServerCapabilities,
} from '@modelcontextprotocol/server';
import { unlessAborted } from '../client/unless-aborted.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { callerOf } from '../server/caller.js';
import { notifierOver, type ChangeNotifier } from '../server/changes.js';
import type { DispatchedMethod, Params } from '../server/dispatcher.js';
import type { Era, Exchange } from '../server/exchange.js';
import type { ClientChannel, ToolSchemas } from '../server/upstream.js';
import { BackendLog } from './backend-log.js';
import { problemOf } from './backend-problem.js';
import { toClientError } from './backend-error.js';
import { isCall, Call } from './call.js';
import { askable, paramsFor, resultFor } from './caller-params.js';
import type { CallerStates } from './caller-states.js';
import { CallerLists } from './caller-lists.js';
import { ConnectionManager } from './connection-manager.js';
import type { GatewayBackend } from './gateway-options.js';
import type { ListMethod } from './known-lists.js';
import { BackendConnection, type ConnectionOwner } from './backend-connection.js';
import { isForeign, notifyChange } from './change-notifier.js';
import type { GatewaySettings } from './resolve-options.js';
import type { SuspendedCalls } from './suspended-calls.js';

/** What a backend needs of the gateway that it belongs to. */
export interface BackendHost {
  readonly id: string;
  readonly settings: GatewaySettings;
  readonly suspended: SuspendedCalls;
  readonly states: CallerStates;
  /** Tells all clients, but for those who have a channel. */
  readonly changes: ChangeNotifier | undefined;
  /** The clients who have one. */
  readonly channels: Iterable<ClientChannel>;
  report(error: Error): void;
}

/** What a backend says of itself. */
export interface BackendDescription {
  readonly era: Era;
  readonly info?: Implementation;
  readonly instructions?: string;
  readonly capabilities: ServerCapabilities;
}

/**
 * One server behind a gateway. A 2026-era one has a single connection, for every request says who it is from. A 2025-era
 * one has a connection for each session of a 2025-era client, and for other callers a pool of them, for it asks its
 * clients on their connections; one more, the base, tells what it is and what changes.
 */
export class Backend {
  description?: BackendDescription;
  readonly lists: CallerLists;
  private readonly connections: ConnectionManager;
  private readonly base: BackendConnection;
  /** The name of the backend in the log. */
  readonly name: string;
  private readonly log: BackendLog;
  private readonly onFailure = (thrown: unknown): void => this.log.failed(problemOf(thrown, this));

  constructor(
    readonly prefix: string | undefined,
    readonly options: GatewayBackend,
    private readonly host: BackendHost,
  ) {
    const { name, limits } = host.settings;
    this.name = prefix === undefined ? name : `${name}/${prefix}`;
    this.log = new BackendLog(this.name, new Logger('McpGateway'));
    this.connections = new ConnectionManager(this.name, options, host, this.pooledOwner(), session =>
      this.lists.forget(session),
    );
    this.lists = new CallerLists({
      onFailure: this.onFailure,
      timeoutMs: limits.listTimeoutMs,
      connections: this.connections,
      fetch: (method, params, exchange) => this.ask(method, params, exchange),
    });
    this.base = new BackendConnection(this.name, options, this.baseOwner(), true);
  }

  /**
   * Gets to know the backend.
   * @throws McpException where it cannot be reached
   */
  async ready(signal?: AbortSignal): Promise<BackendDescription> {
    try {
      if (!this.base.isOpen || !this.description) await this.base.client(signal);
      return this.description!;
    } catch (error) {
      throw toClientError(error, this.onFailure, signal);
    }
  }

  /**
   * As `ready`, but for what needs not this backend alone: one that could not be reached the last time is not waited for
   * long, and tried in the background.
   */
  async readySoon(signal: AbortSignal): Promise<BackendDescription> {
    if (!this.base.isFailing) return this.ready(signal);
    this.keepTrying();
    return unlessAborted(this.ready(signal), AbortSignal.timeout(PATIENCE_MS)).catch((error: unknown) => {
      throw toClientError(error, this.onFailure, signal);
    });
  }

  /** Goes on trying to reach it, and tells the clients of what it has once that succeeds. */
  keepTrying(): void {
    this.base.keepOpen();
  }

  /** @throws McpException, or the backend's own `ProtocolError` */
  async request(method: string, params: Params, exchange: Exchange): Promise<Result> {
    return resultFor(exchange.era, await this.ask(method, params, exchange));
  }

  /** As `request`, but with all that the backend says of its result, whatever the client's era. */
  private async ask(method: string, params: Params, exchange: Exchange): Promise<Result> {
    try {
      const session = this.connections.known(exchange.channel);
      const era = session?.isOpen ? 'legacy' : (await this.ready(exchange.signal)).era;
      const result = await (era === 'modern'
        ? this.modern(method, params, exchange)
        : this.legacy(method, params, exchange));
      this.log.answered();
      return result;
    } catch (error) {
      if (error instanceof ProtocolError) this.log.answered();
      throw toClientError(error, this.onFailure, exchange.signal);
    }
  }

  /** Whether it has such a list, as far as it is known. */
  offers(method: ListMethod): boolean {
    const [kind] = method.split('/') as ['tools' | 'prompts' | 'resources'];
    return this.description?.capabilities[kind] !== undefined;
  }

  async subscribe(uri: string, exchange: Exchange): Promise<void> {
    try {
      const { era } = await this.ready(exchange.signal);
      const { channel } = exchange;
      if (!channel) return await this.subscribeUntilEnd(uri, exchange);
      const connection = era === 'modern' ? this.base : this.connections.connectionOf(channel);
      await this.connections.sessionOf(channel).subscribe(uri, connection);
    } catch (error) {
      throw toClientError(error, this.onFailure, exchange.signal);
    }
  }

  unsubscribe(uri: string, { channel }: Exchange): void {
    this.connections.known(channel)?.unsubscribe(uri);
  }

  async setLevel(params: Params, exchange: Exchange): Promise<Result> {
    if (exchange.channel)
      this.connections.sessionOf(exchange.channel).level = params['level'] as LoggingLevel;
    const { era, capabilities } = await this.ready(exchange.signal);
    if (era === 'modern' || !capabilities.logging) return {};
    return this.request('logging/setLevel', params, exchange);
  }

  /** A 2025-era client has connected, and may be asked and told things from now on. */
  opened(channel: ClientChannel): void {
    if (this.description?.era !== 'legacy') return;
    try {
      const opening = this.connections.connectionOf(channel).client();
      opening.catch((error: Error) => this.host.report(error));
    } catch (error) {
      this.host.report(error as Error);
    }
  }

  notified(channel: ClientChannel, method: string, params: Params | undefined): void {
    this.connections.known(channel)?.notify(method, params);
  }

  closed(channel: ClientChannel): void {
    const session = this.connections.known(channel);
    if (session) this.lists.forget(session);
    this.connections.closed(channel);
  }

  async close(): Promise<void> {
    await Promise.all([this.base.close(), this.connections.close()]);
  }

  private async modern(method: string, params: Params, exchange: Exchange): Promise<Result> {
    const { states } = this.host;
    const state = await states.open(this.prefix, params, exchange);
    const sent = paramsFor(
      'modern',
      params,
      exchange,
      state,
      this.connections.known(exchange.channel)?.level,
    );
    const { signal } = exchange;
    const send = async (tool?: ToolSchemas) => {
      const result = await this.base.request(method, sent, { call: new Call(exchange), signal, tool });
      return states.seal(result, this.prefix, params, exchange);
    };
    if (method !== 'tools/call') return send();
    const tool = await this.tool(params['name'], exchange);
    try {
      return await send(tool);
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== McpErrorCode.HeaderMismatch) throw error;
      // The backend has looked at the headers only: its tool may not be what it was.
      this.lists.relist(exchange);
      const now = await this.tool(params['name'], exchange);
      if (isDeepStrictEqual(now?.inputSchema, tool?.inputSchema)) throw error;
      return send(now);
    }
  }

  /** The definition of a tool; undefined where there is none, or the backend, which may serve calls, cannot list it. */
  private async tool(name: unknown, exchange: Exchange): Promise<ToolSchemas | undefined> {
    try {
      return await this.lists.find('tools/list', exchange, row => row['name'] === name);
    } catch (error) {
      if (exchange.signal.aborted) throw error;
      this.host.report(error as Error);
      return undefined;
    }
  }

  private async legacy(method: string, params: Params, exchange: Exchange): Promise<Result> {
    const { channel, signal } = exchange;
    const { connections } = this;
    const sent = paramsFor('legacy', params, exchange);
    if (channel)
      return connections.connectionOf(channel).request(method, sent, { call: new Call(exchange), signal });
    const asks = isCall(method) && Object.keys(askable(exchange.clientCapabilities)).length > 0;
    const run = (call: Call, until: AbortSignal) =>
      connections.pooled(method, sent, exchange, { call, signal: until, asks });
    const isResumed = exchange.requestState() !== undefined;
    if (!isResumed && (!asks || exchange.era === 'legacy')) return run(new Call(exchange), signal);
    return this.host.suspended.run(method as DispatchedMethod, params, exchange, call =>
      run(call, call.signal),
    );
  }

  private async subscribeUntilEnd(uri: string, { authInfo, http, signal }: Exchange): Promise<void> {
    const end = await this.base.subscriptions.add(uri, callerOf(authInfo, http?.request), signal);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  }

  private baseOwner(): ConnectionOwner {
    return {
      ...this.ownerOf(),
      opened: client => this.describe(client),
      notified: (method, params, call) => {
        if (method === 'notifications/message') return call?.log(params);
        if (method.endsWith('/list_changed')) this.lists.forget();
        this.publish(method, params);
      },
      renewed: () => {
        this.lists.forget();
        for (const kind of ['tools', 'prompts', 'resources']) {
          this.publish(`notifications/${kind}/list_changed`, {});
        }
      },
    };
  }

  private pooledOwner(): ConnectionOwner {
    return {
      ...this.ownerOf(),
      notified: (method, params, call) => {
        if (method === 'notifications/message') call?.log(params);
        else if (method.endsWith('/list_changed')) this.lists.forget();
      },
      renewed: () => this.lists.forget(),
    };
  }

  private ownerOf(): Pick<ConnectionOwner, 'id' | 'settings' | 'asked' | 'report'> {
    const { id, settings } = this.host;
    return {
      id,
      settings,
      asked: async (method, params, call, options) => {
        if (call) return call.ask(method, params, options);
        throw new McpException(McpErrorCode.MethodNotFound, 'It cannot be told which client is asked');
      },
      report: error => this.host.report(error),
    };
  }

  private describe(client: Client): void {
    this.description = {
      era: client.getProtocolEra() === 'modern' ? 'modern' : 'legacy',
      info: client.getServerVersion(),
      instructions: client.getInstructions(),
      capabilities: client.getServerCapabilities() ?? {},
    };
    this.base.subscriptions.listenToLists(client);
  }

  /** Tells the clients of a change, but for those who hear of it on connections of their own. */
  private publish(method: string, params: Params): void {
    if (this.prefix !== undefined && isForeign(method, params, this.base.subscriptions)) return;
    const { changes, channels } = this.host;
    if (changes) notifyChange(changes, method, params);
    if (this.description?.era !== 'modern') return;
    for (const channel of channels) notifyChange(notifierOver(channel.bus), method, params);
  }
}

/** How long a backend that could not be reached the last time may keep others waiting, in milliseconds. */
const PATIENCE_MS = 250;
