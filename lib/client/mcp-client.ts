import { setMaxListeners } from 'node:events';
import type {
  Client,
  Implementation,
  LoggingMessageNotification,
  RequestOptions,
  ServerCapabilities,
} from '@modelcontextprotocol/client';
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/server';
import type { Observable } from 'rxjs';
import { startTask, type TaskHandle } from '../connection/task-handle.js';
import type { KnownTool } from '../connection/tool-definitions.js';
import type { Chain } from '../interceptors/chain/chain.js';
import { assertWanted } from './client-boundary.js';
import type { ClientWiring } from './client-wiring.js';
import { InterceptedVerbs, type McpCallToolOptions, type McpRequestOptions } from './intercepted-verbs.js';
import { timeLimit, unlessAborted } from '../util/abort.js';

/**
 * A client of the application. The first use opens its connection, which reopens after a failure and closes with the
 * application. The interceptors of the application run around its requests.
 * @example
 * ```ts
 * constructor(@InjectMcpClient('billing') private readonly billing: McpClient) {}
 *
 * pay(id: string) {
 *   return this.billing.callTool({ name: 'pay', arguments: { id } });
 * }
 * ```
 */
export class McpClient extends InterceptedVerbs {
  /** A connection has been opened. Subscriptions of an earlier one are gone: subscribe anew. */
  readonly opened$: Observable<void>;
  /** The server's list of tools has changed. On 2026-07-28, call `listen` to be told. */
  readonly toolsChanged$: Observable<void>;
  /** The server's list of prompts has changed. On 2026-07-28, call `listen` to be told. */
  readonly promptsChanged$: Observable<void>;
  /** The server's list of resources has changed. On 2026-07-28, call `listen` to be told. */
  readonly resourcesChanged$: Observable<void>;
  /** A resource that was subscribed to has changed. */
  readonly resourceUpdated$: Observable<{ readonly uri: string }>;
  /** The server's log messages. */
  readonly logged$: Observable<LoggingMessageNotification['params']>;
  readonly #wiring: ClientWiring;

  /** @internal */
  constructor(wiring: ClientWiring) {
    super(wiring.boundary);
    this.#wiring = wiring;
    const { events } = wiring;
    this.opened$ = events.opened.asObservable();
    this.toolsChanged$ = events.toolsChanged.asObservable();
    this.promptsChanged$ = events.promptsChanged.asObservable();
    this.resourcesChanged$ = events.resourcesChanged.asObservable();
    this.resourceUpdated$ = events.resourceUpdated.asObservable();
    this.logged$ = events.logged.asObservable();
  }

  get name(): string {
    return this.#wiring.name;
  }

  /**
   * Adds definitions of the server's tools, so that `callTool` sends their `Mcp-Param-*` headers (2026-07-28 over HTTP)
   * without a `listTools()` before. A later listing of a tool replaces its definition.
   * @throws TypeError if one of them is not a tool or breaks a rule of `x-mcp-header`; no definition is added then
   */
  addKnownTools(tools: readonly KnownTool[]): void {
    this.#wiring.tools.add(tools);
  }

  /**
   * Forgets added tools. Definitions that the server has listed still count.
   * @throws TypeError if one of the names is not a string; no tool is forgotten then
   */
  removeKnownTools(names: readonly string[]): void {
    this.#wiring.tools.remove(names);
  }

  clearKnownTools(): void {
    this.#wiring.tools.clear();
  }

  /**
   * Calls a tool, and returns as soon as the server has answered. If the call becomes a task, the handle reads it, waits
   * for its result and cancels it. `timeout` bounds the request, not the task; `signal` cancels both. The interceptors see
   * the call once, and its final result once.
   * @throws TypeError for a wrong `toolDefinition`
   */
  startTool(params: Parameters<Client['callTool']>[0], options?: McpCallToolOptions): Promise<TaskHandle> {
    return startTask(start => this.calling(params, options, start));
  }

  /** The server's capabilities. Opens the connection, as the methods below do. */
  getServerCapabilities(options?: RequestOptions): Promise<ServerCapabilities | undefined> {
    return this.use(options, client => client.getServerCapabilities());
  }

  /** The server's name and version; undefined if the server does not send them. */
  getServerVersion(options?: RequestOptions): Promise<Implementation | undefined> {
    return this.use(options, client => client.getServerVersion());
  }

  /** The server's instructions for models. */
  getInstructions(options?: RequestOptions): Promise<string | undefined> {
    return this.use(options, client => client.getInstructions());
  }

  /** The revision that is spoken. */
  getNegotiatedProtocolVersion(options?: RequestOptions): Promise<string | undefined> {
    return this.use(options, client => client.getNegotiatedProtocolVersion());
  }

  /** Tells the server that its roots have changed (2025 revisions); `capabilities.roots.listChanged` must say so. */
  async sendRootsListChanged(options?: RequestOptions): Promise<void> {
    await this.use(options, client => client.sendRootsListChanged());
  }

  /** A call that is refused, or that an interceptor answers, opens a connection only if an interceptor has a `compat`. */
  protected override async protocolVersion(
    chain: Chain,
    { signal, timeout }: McpRequestOptions,
  ): Promise<string | undefined> {
    const known = this.#wiring.protocolVersion;
    if (known !== undefined || !chain.entries.some(({ compat }) => compat)) return known;
    return this.getNegotiatedProtocolVersion({ signal, timeout });
  }

  protected override unsent(method: string, params: object): void {
    this.#wiring.unsent(method, { ...params });
  }

  protected override async use<T>(
    { signal, timeout }: RequestOptions = {},
    work: (client: Client) => T | Promise<T>,
  ): Promise<T> {
    // A caller may give one signal to many requests, each of which listens to it until it is over.
    if (signal) setMaxListeners(0, signal);
    const connection = this.#wiring.connection();
    const late = () => new SdkError(SdkErrorCode.RequestTimeout, 'Request timed out', { timeout });
    const time = timeout === undefined ? undefined : timeLimit(timeout, late);
    try {
      const opening = connection.client(signal);
      await (time ? unlessAborted(opening, time.signal) : opening);
    } catch (error) {
      assertWanted(signal);
      throw error;
    } finally {
      time?.clear();
    }
    return connection.use(async client => work(client), signal);
  }
}
