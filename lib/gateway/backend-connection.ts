import type { Client } from '@modelcontextprotocol/client';
import type { Result } from '@modelcontextprotocol/server';
import { Connection } from '../client/connection.js';
import type { ConnectionOptions } from '../client/connection-options.js';
import { unlessAborted } from '../client/unless-aborted.js';
import { AS_IT_IS } from '../server/as-it-is.js';
import type { Params } from '../server/dispatcher.js';
import type { ToolSchemas } from '../server/upstream.js';
import { isStranger, LostSession, mayBeLostSession } from './backend-error.js';
import { isCall, type AskOptions, type Call } from './call.js';
import { loopIn, nextEnvironment, VIA_HEADER } from './loop-detection.js';
import { isList } from './known-lists.js';
import { callScope } from './call-scope.js';
import { tooMany } from './connection-pool.js';
import type { GatewaySettings } from './resolve-options.js';
import { RETRY_MS, Subscriptions } from './subscriptions.js';

/** Who is told what a backend sends by itself. */
export interface ConnectionOwner {
  /** This gateway's id. */
  readonly id: string;
  /** How long a backend may take for an answer. */
  readonly settings: Pick<GatewaySettings, 'timeoutMs' | 'limits'>;
  opened?(client: Client): void;
  /** @param call the call that the notification belongs to, as far as that can be told */
  notified(method: string, params: Params, call: Call | undefined): void;
  /** The backend asks the client something. */
  asked(
    method: string,
    params: Params | undefined,
    call: Call | undefined,
    options: AskOptions,
  ): Promise<Result>;
  /** What the backend offers may have changed unnoticed. */
  renewed(): void;
  report(error: Error): void;
}

export interface Sending {
  readonly call?: Call;
  readonly signal?: AbortSignal;
  /** The tool that is called, for the HTTP headers that mirror its arguments. */
  readonly tool?: ToolSchemas;
}

/** One connection to a backend, and what is under way on it. */
export class BackendConnection {
  readonly subscriptions: Subscriptions;
  /** The calls that the backend works on. */
  private readonly calls = new Set<Call>();
  /** Whose calls there have been; a connection with calls of several is of nobody from then on. */
  private owner: { readonly id: unknown } | 'several' | undefined;
  /** The requests under way, each under the token with which the backend reports its progress. */
  private readonly reporting = new Map<number, Call | undefined>();
  private lastToken = 0;
  private lastUsed = Date.now();
  private readonly options: ConnectionOptions;
  private readonly connection: Connection;
  /** Connections that are opened only to see whether gateways form a loop. */
  private readonly probes = new Set<Connection>();
  private current?: Client;
  private retry?: NodeJS.Timeout;
  /** Settles once it is known whether the server is still the one that the connection was made with. */
  private recognized?: Promise<void>;
  private isClosed = false;
  /** Whether somebody may have gone without what the backend has. */
  private isMissed = false;
  private hasFailed = false;

  /** @param shared whether the calls are of several clients, so that what belongs to none of them may be given to none */
  constructor(
    private readonly name: string,
    options: ConnectionOptions,
    private readonly host: ConnectionOwner,
    private readonly shared: boolean,
  ) {
    this.subscriptions = new Subscriptions(this, AGREE_MS, () => host.renewed());
    this.options = guarded(options, host.id);
    this.connection = new Connection(name, this.options, {
      onClient: client => this.prepare(client),
      onOpen: client => this.onOpen(client),
    });
  }

  get isOpen(): boolean {
    return this.current !== undefined;
  }

  /** Whether it could not be opened the last time. */
  get isFailing(): boolean {
    return this.hasFailed && !this.isOpen;
  }

  /** @throws ConnectionError where the backend cannot be reached, McpException where gateways form a loop */
  async client(signal?: AbortSignal): Promise<Client> {
    const via = viaNow();
    if (via.length > 0 && !this.isOpen && !this.connection.isDown) await this.assertNoLoop(via, signal);
    if (this.current) return this.current;
    signal?.throwIfAborted();
    // In nobody's name: all share it, and whatever comes later on it is not of the request that opened it.
    const opening = callScope.run({ via: [] }, () => this.connection.client());
    opening.catch(() => (this.hasFailed = true));
    return signal ? unlessAborted(opening, signal) : opening;
  }

  /** @throws whatever the backend, the SDK or the connection does */
  async request(method: string, params: Params, { call, signal, tool }: Sending): Promise<Result> {
    const via = viaNow();
    const send = (client: Client) =>
      callScope.run({ via, call }, () =>
        this.send(client, method, withToken(params, token, call), { signal, tool }),
      );
    // Only these take long enough, and may ask, for what arrives meanwhile to be theirs.
    if (call && isCall(method)) {
      this.calls.add(call);
      this.owner = this.isOf(call) ? { id: call.owner } : 'several';
    }
    const token = (this.lastToken += 1);
    this.reporting.set(token, call);
    try {
      const client = await this.client(signal);
      // A 2025-era session may have ended without notice, and is opened anew.
      if (client.getProtocolEra() === 'legacy') {
        return await callScope.run({ via }, () => this.useSession(send, signal));
      }
      return await this.connection.use(
        used =>
          send(used).catch(async (error: unknown) => {
            if (isStranger(error)) await this.leaveIfStranger(used);
            throw error;
          }),
        signal,
      );
    } finally {
      if (call) this.calls.delete(call);
      this.reporting.delete(token);
      this.lastUsed = Date.now();
    }
  }

  /** Whether nothing has been under way on it for so long, in milliseconds, and nothing is waited for. */
  isIdleFor(ms: number): boolean {
    return this.reporting.size === 0 && !this.subscriptions.isWanted && Date.now() - this.lastUsed >= ms;
  }

  /** Whether no call before was anybody else's. */
  isOf({ owner }: Call): boolean {
    return this.owner === undefined || (this.owner !== 'several' && this.owner.id === owner);
  }

  /** Tells the backend something, if there is a connection. */
  notify(method: string, params: Params | undefined): void {
    this.current?.notification({ method, params }).catch((error: Error) => this.host.report(error));
  }

  /** Tries to open the connection for as long as that fails, because somebody waits for what comes by itself. */
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
    await Promise.all([this.connection, ...this.probes].map(one => one.close()));
  }

  /**
   * A loop of gateways whose connections all wait for one another is not found on the shared connection, which tells of this
   * gateway only; and what one caller says of its way may fail no connection but its own.
   * @throws McpException (-32000) where the way of a request leads back to where it was, or there are too many at a time
   */
  private async assertNoLoop(via: readonly string[], signal?: AbortSignal): Promise<void> {
    if (this.options.url === undefined) return;
    if (this.probes.size >= MAX_PROBES) throw tooMany();
    const probe = new Connection(this.name, this.options);
    this.probes.add(probe);
    try {
      await callScope.run({ via }, () => probe.client(signal));
    } catch (error) {
      // Whatever else is wrong, the shared connection says.
      if (loopIn(error)) throw error;
    } finally {
      void probe.close().then(() => this.probes.delete(probe));
    }
  }

  private send(client: Client, method: string, params: Params, { signal, tool }: Sending): Promise<Result> {
    const { timeoutMs, limits } = this.host.settings;
    const options = {
      ...(signal && { signal }),
      // Much else waits for a list, and nobody works on one for long.
      timeout: isList(method) ? Math.min(timeoutMs, limits.listTimeoutMs) : timeoutMs,
      allowInputRequired: true,
    };
    if (tool?.inputSchema === undefined || client.getProtocolEra() !== 'modern') {
      return client.request({ method, params }, AS_IT_IS, options);
    }
    // Without the output schema: what a tool answers is for the client to check.
    const { name } = params as { name: string };
    const toolDefinition = { name, inputSchema: tool.inputSchema as { type: 'object' } };
    return client.callTool(params as { name: string }, { ...options, toolDefinition });
  }

  private prepare(client: Client): void {
    client.onerror = error => this.host.report(error);
    // The SDK's own handler misses what arrives together with the answer.
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

  private onOpen(client: Client): void {
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

  /**
   * Where another server has taken the place of the one that the connection was made with, the next request opens another
   * one. What is under way is others', and goes on. A server that has only refused a request is still the same.
   */
  private leaveIfStranger(client: Client): Promise<void> {
    this.recognized ??= callScope
      .run({ via: [] }, () => client.discover({ timeout: AGREE_MS }))
      .then(
        () => undefined,
        // Taken for closed, it is used no longer, and is closed once nothing is under way on it.
        () => client.onclose?.(),
      )
      .finally(() => (this.recognized = undefined));
    return this.recognized;
  }

  /** Some servers answer 400 to a session that they do not know, where the revision says 404. */
  private async useSession(send: (client: Client) => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    try {
      return await this.connection.use(
        client =>
          send(client).catch((error: unknown) => {
            throw mayBeLostSession(error) ? new LostSession(error) : error;
          }),
        signal,
      );
    } catch (error) {
      throw error instanceof LostSession ? error.cause : error;
    }
  }

  /** The call that what just arrived belongs to. Where it may be another's, even one's that has ended, it is nobody's. */
  private callNow(): Call | undefined {
    const call = callScope.getStore()?.call;
    if (call) return this.calls.has(call) ? call : undefined;
    if (this.shared && (this.calls.size > 1 || this.owner === 'several')) return undefined;
    return [...this.calls].at(-1);
  }
}

/** How long a backend may take to agree to a subscription, or to say who it is, in milliseconds. */
const AGREE_MS = 10_000;

/** The most connections at a time that only look for a loop. */
const MAX_PROBES = 8;

const viaNow = (): readonly string[] => callScope.getStore()?.via ?? [];

/** Params with this connection's token, where the client wants to be told of progress. */
function withToken(params: Params, progressToken: number, call: Call | undefined): Params {
  if (call?.progressToken === undefined) return params;
  return { ...params, _meta: { ...(params['_meta'] as Params), progressToken } };
}

/** Options with what finds a loop of gateways. */
function guarded(options: ConnectionOptions, id: string): ConnectionOptions {
  const { url, command, headers = {} } = options;
  if (url !== undefined) {
    return {
      ...options,
      headers: async () => ({
        ...(typeof headers === 'function' ? await headers() : headers),
        [VIA_HEADER]: [...viaNow(), id].join(','),
      }),
    };
  }
  return command === undefined ? options : { ...options, env: { ...options.env, ...nextEnvironment() } };
}
