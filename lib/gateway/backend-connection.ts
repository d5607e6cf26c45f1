import type { Client } from '@modelcontextprotocol/client';
import type { TaskPassingClient } from '../connection/task-client.js';
import type { TaskSubscription } from '../connection/task-subscriptions.js';
import type { Result } from '@modelcontextprotocol/server';
import { Connection } from '../connection/connection.js';
import { unlessAborted } from '../util/abort.js';
import { passthroughSchema } from '../server/passthrough-schema.js';
import type { Params } from '../protocol/mcp-call.js';
import type { ServerSessionShare } from '../connection/server-session.js';
import type { ToolSchemas } from '../protocol/handlers.js';
import { isOtherServer, LostSession, mayBeLostSession } from './backend-error.js';
import { type AskOptions, type Call, callScope } from './call.js';
import type { CallerTokens } from './caller-tokens.js';
import { RETRY_MS } from './limits.js';
import type { GatewayBackend } from './gateway-options.js';
import { nextEnvironment } from './loop-detection.js';
import type { Observer } from '../protocol/traffic.js';
import { METHODS, isList } from '../protocol/methods.js';
import type { GatewaySettings } from './resolve-options.js';
import { AGREE_MS, Subscriptions } from './subscriptions.js';

/** Gets the notifications and requests that a backend sends. */
export interface ConnectionOwner {
  readonly settings: Pick<GatewaySettings, 'timeoutMs' | 'limits'>;
  /** The tokens of callers. Undefined if all requests have the gateway's own credentials. */
  readonly tokens: CallerTokens | undefined;
  opened?(client: Client): void;
  /** @param call the call that the notification belongs to, if known */
  notified(method: string, params: Params, call: Call | undefined): void;
  asked(
    method: string,
    params: Params | undefined,
    call: Call | undefined,
    options: AskOptions,
  ): Promise<Result>;
  /** Notifications may have been lost. */
  renewed(): void;
  /** The session with the backend, if several nodes use it. */
  readonly session?: ServerSessionShare;
  report(error: Error): void;
  /** Observes the requests of the connection. Undefined if they are not observed. */
  observer(url: string | undefined): Observer | undefined;
}

export interface Sending {
  readonly call?: Call;
  readonly signal?: AbortSignal;
  readonly tool?: ToolSchemas;
}

export class BackendConnection {
  readonly subscriptions: Subscriptions;
  private readonly calls = new Set<Call>();
  /** The owner of all calls so far. */
  private owner: { readonly id: unknown } | 'several' | undefined;
  /** The requests on the connection, by their progress tokens. */
  private readonly reporting = new Map<number, Call | undefined>();
  private lastToken = 0;
  private latest?: Call;
  private lastUsed = Date.now();
  private readonly options: GatewayBackend;
  private readonly connection: Connection;
  private current?: TaskPassingClient;
  private retry?: NodeJS.Timeout;
  /** Settles once it is known whether the server is still the same. */
  private recognized?: Promise<void>;
  private isClosed = false;
  private isMissed = false;
  private hasFailed = false;

  /** @param shared whether several clients use the connection; a message that fits several calls then belongs to none */
  constructor(
    name: string,
    options: GatewayBackend,
    private readonly host: ConnectionOwner,
    private readonly shared: boolean,
  ) {
    this.subscriptions = new Subscriptions(this, () => host.renewed());
    this.options = this.guarded(options);
    this.connection = new Connection(name, this.options, {
      auth: this.options.auth,
      tasks: true,
      session: host.session,
      onClient: client => this.prepare(client),
      onOpen: client => this.onOpen(client),
      observer: url => host.observer(url),
    });
  }

  get isOpen(): boolean {
    return this.current !== undefined;
  }

  get isFailing(): boolean {
    return this.hasFailed && !this.isOpen;
  }

  async client(signal?: AbortSignal): Promise<TaskPassingClient> {
    if (this.current) return this.current;
    signal?.throwIfAborted();
    // Outside the scope of the request: later messages on the connection do not belong to it.
    const opening = callScope.run(undefined, () => this.connection.client());
    opening.catch(() => (this.hasFailed = true));
    return signal ? unlessAborted(opening, signal) : opening;
  }

  async request(method: string, params: Params, { call, signal, tool }: Sending): Promise<Result> {
    if (call && this.host.tokens) await this.actFor(call);
    const send = (client: TaskPassingClient) =>
      callScope.run(call, () => this.send(client, method, withToken(params, token, call), { signal, tool }));
    // Messages of the backend belong to calls only.
    if (call && METHODS.get(method)?.canAsk) {
      this.calls.add(call);
      this.owner = this.isOf(call) ? { id: call.owner } : 'several';
    }
    const token = (this.lastToken += 1);
    this.reporting.set(token, call);
    try {
      await this.client(signal);
      return await this.connection.use(used => send(used).catch(error => this.failed(error, used)), signal);
    } catch (error) {
      throw error instanceof LostSession ? error.cause : error;
    } finally {
      if (call) this.calls.delete(call);
      this.reporting.delete(token);
      this.lastUsed = Date.now();
    }
  }

  /**
   * Listens for the tasks of a caller, until the signal aborts.
   * @returns the stream, once the backend has acknowledged it
   */
  async listenToTasks(
    taskIds: readonly string[],
    call: Call,
    signal: AbortSignal,
    onTask: (task: Params) => void,
  ): Promise<TaskSubscription> {
    await this.actFor(call);
    const client = await this.client(signal);
    return callScope.run(call, () => client.listenToTasks(taskIds, onTask, { signal, timeout: AGREE_MS }));
  }

  /** Whether the connection was unused for so many milliseconds and has no subscriptions. */
  isIdleFor(ms: number): boolean {
    return this.reporting.size === 0 && !this.subscriptions.isWanted && Date.now() - this.lastUsed >= ms;
  }

  isOf({ owner }: Call): boolean {
    return this.owner === undefined || (this.owner !== 'several' && this.owner.id === owner);
  }

  /**
   * Gets the caller's token for the requests of a call. A connection of one caller sends it with all its requests.
   * @throws AuthChallenge (503) if `tokenFor` fails
   */
  async actFor(call: Call): Promise<void> {
    if (!this.host.tokens) return;
    call.token = await this.host.tokens.of(call.authInfo);
    // The shared connection to a 2025-era backend has no calls.
    if (this.options.era === 'legacy') this.latest = call;
  }

  /** Reads what the backend sends without a call. */
  async listen(): Promise<void> {
    await callScope.run(undefined, () => this.connection.listen());
  }

  notify(method: string, params: Params | undefined): void {
    this.current?.notification({ method, params }).catch((error: Error) => this.host.report(error));
  }

  /** Tries to open the connection until that succeeds. */
  keepOpen(delay: number = RETRY_MS[0]): void {
    if (this.isClosed || this.retry) return;
    this.isMissed = true;
    this.retry = setTimeout(() => {
      this.retry = undefined;
      this.client().catch(() => this.keepOpen(Math.min(delay * 2, RETRY_MS[1])));
    }, delay).unref();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.retry);
    this.subscriptions.close();
    await this.connection.close();
  }

  private guarded(options: GatewayBackend): GatewayBackend {
    const { url, command, headers = {} } = options;
    if (url !== undefined) {
      return {
        ...options,
        headers: async () => ({
          ...(typeof headers === 'function' ? await headers() : headers),
          ...this.credentials(),
        }),
      };
    }
    return command === undefined ? options : { ...options, env: { ...options.env, ...nextEnvironment() } };
  }

  private credentials(): { authorization?: string } {
    const { token } = callScope.getStore() ?? this.latest ?? {};
    return token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  private async send(
    client: TaskPassingClient,
    method: string,
    params: Params,
    { signal, tool }: Sending,
  ): Promise<Result> {
    const { timeoutMs, limits } = this.host.settings;
    const options = {
      ...(signal && { signal }),
      timeout: isList(method) ? limits.listTimeoutMs : timeoutMs,
      allowInputRequired: true,
    };
    if (tool?.inputSchema === undefined || client.getProtocolEra() !== 'modern') {
      return (await client.exchange({ method, params }, [passthroughSchema, options])) as Result;
    }
    // Without the output schema: the client checks the result. `callTool` would read the input schema for each call.
    const { name } = params as { name: string };
    const toolDefinition = { name, inputSchema: tool.inputSchema };
    const call = { method: 'tools/call', params: params as { name: string } } as const;
    return (await client.exchange(call, [Object.assign(options, { toolDefinition })])) as Result;
  }

  private prepare(client: Client): void {
    client.onerror = error => this.host.report(error);
    // The SDK's own handler drops progress that arrives together with the answer.
    client.setNotificationHandler('notifications/progress', ({ params: { progressToken, ...progress } }) =>
      this.reporting.get(progressToken as number)?.progress(progress),
    );
    client.fallbackNotificationHandler = async ({ method, params = {} }) =>
      this.host.notified(method, params, this.callNow());
    client.fallbackRequestHandler = ({ method, params }, { mcpReq }) => {
      const progressToken = params?._meta?.progressToken;
      return this.host.asked(method, params, this.callNow(), {
        signal: mcpReq.signal,
        timeout: this.host.settings.timeoutMs,
        ...(progressToken !== undefined && {
          resetTimeoutOnProgress: true,
          onprogress: progress =>
            void mcpReq
              .notify({ method: 'notifications/progress', params: { ...progress, progressToken } })
              .catch(() => undefined),
        }),
      });
    };
  }

  private onOpen(client: TaskPassingClient): void {
    this.current = client;
    this.hasFailed = false;
    const { onclose } = client;
    client.onclose = () => {
      onclose?.();
      if (this.current === client) this.current = undefined;
      if (this.subscriptions.isWanted) this.keepOpen();
    };
    this.host.opened?.(client);
    this.subscriptions.reopen(client);
    if (this.isMissed) this.host.renewed();
    this.isMissed = true;
  }

  /** Opens another connection for the next request if another server has replaced the backend. Open requests go on. */
  private reconnectIfReplaced(client: Client): Promise<void> {
    this.recognized ??= callScope
      .run(undefined, () => client.discover({ timeout: AGREE_MS }))
      .then(
        () => undefined,
        // The connection drops a closed client, and closes it after its last request.
        () => client.onclose?.(),
      )
      .finally(() => (this.recognized = undefined));
    return this.recognized;
  }

  /** Lets the connection open a lost session again. Some servers answer 400 to one; the specification says 404. */
  private async failed(error: unknown, client: Client): Promise<never> {
    const isLegacy = client.getProtocolEra() === 'legacy';
    if (isLegacy && mayBeLostSession(error)) throw new LostSession(error);
    if (!isLegacy && isOtherServer(error)) await this.reconnectIfReplaced(client);
    throw error;
  }

  /** The call that the current message belongs to; undefined if several are possible, ended calls included. */
  private callNow(): Call | undefined {
    const call = callScope.getStore();
    if (call) return this.calls.has(call) ? call : undefined;
    if (this.shared && (this.calls.size > 1 || this.owner === 'several')) return undefined;
    return [...this.calls].at(-1);
  }
}

/** Adds a progress token of this connection, if the client wants progress. */
function withToken(params: Params, progressToken: number, call: Call | undefined): Params {
  if (call?.progressToken === undefined) return params;
  return { ...params, _meta: { ...(params['_meta'] as Params), progressToken } };
}
