import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  McpServer,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
  type CallToolResult,
  type ClientCapabilities,
  type Implementation,
  type LoggingLevel,
  type McpServerOptions,
  type Result,
  type ServerCapabilities,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { AS_IT_IS } from './as-it-is.js';
import { DISPATCHED, type DispatchedMethod, type Params } from './dispatcher.js';
import { isProtocolError, unexpected } from './errors.js';
import { isAtLeast } from './mcp-log.js';
import type { AskClient, Exchange, HttpExchange, Subscriptions } from './exchange.js';
import { noteNotFound, restoreNotFoundCode } from './not-found-code.js';
import type { RunningCall, RunningCalls } from './running-calls.js';
import { unserialisable } from './serialisable.js';
import { Unsent } from './unsent.js';
import type { ClientChannel, ToolSchemas } from './upstream.js';

/** What the exchanges of one server share. */
export interface ExchangeHost {
  readonly info: Implementation;
  readonly sdkOptions: McpServerOptions;
  /** The schema of what a tool answers, as its caller sees it. */
  outputSchema(
    name: string,
    exchange: Exchange,
  ): ToolSchemas['outputSchema'] | Promise<ToolSchemas['outputSchema']>;
  dispatch(method: DispatchedMethod, params: Params, exchange: Exchange): Promise<Result>;
  /** Asks a client something that belongs to none of its requests, through the chain where there is one. */
  ask(exchange: Exchange, send: AskClient, ...asked: Parameters<AskClient>): Promise<Result>;
  /** What tells a client something that belongs to none of its requests, through the chain where there is one. */
  teller(exchangeOf: () => Exchange, send: Exchange['notify']): Exchange['notify'];
  /**
   * Calls back whenever the interceptors that are served to others have changed.
   * @returns what ends that
   */
  onInterceptorsChanged(listener: () => void): () => void;
  /** Methods beside the protocol's own. */
  readonly extensionMethods: Readonly<
    Record<string, (params: Params, exchange: Exchange) => object | Promise<object>>
  >;
  /** Sets a 2025-era client's log level, where that is not for the SDK's server to do. */
  readonly setLevel?: (params: Params, exchange: Exchange) => Promise<Result>;
  /** The HTTP exchange behind a web `Request`, where there is one. */
  httpOf(request: Request | undefined): HttpExchange | undefined;
  /** Reports an error that no client is to see. */
  report(error: Error): void;
  /** Reports what a client did wrong, or hung up on: of interest only while looking for it. */
  reportRejected(error: Error): void;
}

/** The capability that a method belongs to; a server without it does not know the method. */
const CAPABILITY: Record<DispatchedMethod, keyof ServerCapabilities> = {
  'tools/list': 'tools',
  'tools/call': 'tools',
  'prompts/list': 'prompts',
  'prompts/get': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resources',
  'resources/read': 'resources',
  'resources/subscribe': 'resources',
  'resources/unsubscribe': 'resources',
  'completion/complete': 'completions',
};

/** Lets params through as they are: the dispatcher checks what it reads, with an error of its own. */
const UNCHECKED = {
  '~standard': {
    version: 1,
    vendor: 'nestjs-mcp',
    validate: (value: unknown) => ({ value: value as Params }),
  },
} as const;

/**
 * The SDK's server for one exchange or connection. Its handlers only call the dispatcher, so making one costs the
 * same whatever the number of tools. It has no tools registered, so `createMcpHandler` leaves the `Mcp-Param-*` headers to
 * the HTTP endpoint, which is stricter.
 */
export class ExchangeServer extends McpServer {
  /** The log level that a 2025-era client has set on its connection. */
  private level: LoggingLevel = 'debug';

  constructor(
    protected readonly host: ExchangeHost,
    capabilities: ServerCapabilities,
    private readonly running: RunningCalls,
  ) {
    super(host.info, host.sdkOptions);
    const { server } = this;
    server.onerror = error => host.reportRejected(error);
    server.registerCapabilities(capabilities);
    for (const method of DISPATCHED) {
      if (capabilities[CAPABILITY[method]] === undefined) continue;
      server.setRequestHandler(method, { params: UNCHECKED }, (params, ctx) =>
        this.serve(method, params as Params, ctx),
      );
    }
    const { setLevel } = host;
    if (!setLevel && capabilities.logging) {
      server.setRequestHandler('logging/setLevel', ({ params: { level } }) => {
        this.level = level;
        return {};
      });
    } else if (setLevel && capabilities.logging) {
      server.setRequestHandler('logging/setLevel', { params: UNCHECKED }, (params, ctx) =>
        this.answer('logging/setLevel', params as Params, ctx, exchange =>
          setLevel(params as Params, exchange),
        ),
      );
    }
    for (const [method, answer] of Object.entries(host.extensionMethods)) {
      server.setRequestHandler(method, { params: UNCHECKED }, async (params, ctx) => ({
        ...(await this.answer(method, params as Params, ctx, exchange => answer(params as Params, exchange))),
      }));
    }
  }

  override connect(transport: Transport): Promise<void> {
    restoreNotFoundCode(transport);
    return super.connect(transport);
  }

  /** The resources this connection is subscribed to, where it lasts long enough to be told of a change. */
  protected get subscriptions(): Subscriptions | undefined {
    return undefined;
  }

  /** Whether the connection lasts, so that a client can be asked on it (2025 era). */
  protected get carriesRequests(): boolean {
    return false;
  }

  /** The client's side of a connection that lasts, where somebody else is to use it. */
  protected get channel(): ClientChannel | undefined {
    return undefined;
  }

  /** Asks the client something on behalf of the connection itself. */
  protected async askOnConnection(...asked: Parameters<AskClient>): Promise<Result> {
    const [method, , { signal }] = asked;
    const send: AskClient = (name, params, options) =>
      this.server.request({ method: name, params }, AS_IT_IS, options);
    return this.host.ask(this.exchangeOfConnection(method, signal), send, ...asked);
  }

  /** What tells the client something on behalf of the connection itself. */
  protected tellerOnConnection(): Exchange['notify'] {
    const exchangeOf = () => this.exchangeOfConnection('notifications/message');
    return this.host.teller(exchangeOf, (method, params) => this.server.notification({ method, params }));
  }

  private exchangeOfConnection(method: string, signal = new AbortController().signal): Exchange {
    const nowhere = () => Promise.resolve();
    return {
      requestId: method,
      method,
      params: {},
      signal,
      ...this.clientOf(undefined, undefined),
      sessionId: this.server.transport?.sessionId,
      requestState: () => undefined,
      notify: nowhere,
      log: nowhere,
    };
  }

  private serve(method: DispatchedMethod, params: Params, ctx: ServerContext): Promise<Result> {
    return this.running.run(ctx.mcpReq.signal, async call => {
      const exchange = this.exchangeOf(method, params, ctx, call);
      const result = await this.written(exchange, () => this.host.dispatch(method, params, exchange));
      if (method !== 'tools/call') return result;
      // Only what the 2025 era makes of structured content depends on the schema.
      const depends = exchange.era === 'legacy' && result['structuredContent'] !== undefined;
      const schema = depends ? await this.host.outputSchema(params['name'] as string, exchange) : undefined;
      return this.server.projectCallToolResult(result as CallToolResult, schema);
    });
  }

  private answer<T extends object>(
    method: string,
    params: Params,
    ctx: ServerContext,
    make: (exchange: Exchange) => T | Promise<T>,
  ): Promise<T> {
    return this.running.run(ctx.mcpReq.signal, async call => {
      const exchange = this.exchangeOf(method, params, ctx, call);
      return this.written(exchange, () => make(exchange));
    });
  }

  /** The last place where an error can be kept from saying too much, and an answer from not being written. */
  private async written<T extends object>({ method, era }: Exchange, make: () => T | Promise<T>): Promise<T> {
    let refusal: unknown;
    try {
      const result = await make();
      const problem = unserialisable(result);
      if (problem === undefined) return result;
      refusal = new Error(`The answer cannot be written as JSON: ${problem}`);
    } catch (error) {
      if (isProtocolError(error) && unserialisable(error.data) === undefined) {
        if (era === 'legacy') noteNotFound(error);
        throw error;
      }
      refusal = error;
    }
    throw unexpected(refusal, method);
  }

  private exchangeOf(method: string, params: Params, ctx: ServerContext, call: RunningCall): Exchange {
    const { mcpReq } = ctx;
    const http = this.host.httpOf(ctx.http?.req);
    const client = this.clientOf(mcpReq.envelope, http);
    const unsent = new Unsent(http);
    const logLevel = (mcpReq.envelope as Params | undefined)?.[LOG_LEVEL_META_KEY] as
      LoggingLevel | undefined;
    const leastSevere = client.era === 'modern' ? logLevel : this.level;
    const hasLogging = this.server.getCapabilities().logging !== undefined;
    const admitsLog = (level: LoggingLevel) =>
      hasLogging && leastSevere !== undefined && isAtLeast(leastSevere, level);
    const notify: Exchange['notify'] = (name, params) =>
      unsent.send(params, () => mcpReq.notify({ method: name, params }));
    return {
      requestId: mcpReq.id,
      method,
      params,
      signal: call.signal,
      ...client,
      sessionId: ctx.sessionId,
      authInfo: ctx.http?.authInfo,
      http,
      meta: mcpReq._meta,
      ...roundOf(client.era, mcpReq),
      notify,
      log: async (level, data, logger) => {
        if (admitsLog(level)) await unsent.send(data, () => mcpReq.log(level, data, logger));
      },
      admitsLog,
      logLevel,
      channel: this.channel,
      ...(this.carriesRequests &&
        client.era === 'legacy' && {
          ask: (name, asked, options) =>
            call.ask(() => mcpReq.send({ method: name, params: asked }, AS_IT_IS, options)),
        }),
      subscriptions: this.subscriptions,
    };
  }

  /** Who is calling: said with every request since 2026-07-28, once per connection before. */
  private clientOf(
    envelope: Readonly<Record<string, unknown>> | undefined,
    http: HttpExchange | undefined,
  ): Pick<Exchange, 'era' | 'protocolVersion' | 'clientInfo' | 'clientCapabilities'> {
    const version = envelope?.[PROTOCOL_VERSION_META_KEY];
    if (typeof version === 'string') {
      return {
        era: 'modern',
        protocolVersion: version,
        clientInfo: envelope?.[CLIENT_INFO_META_KEY] as Implementation | undefined,
        clientCapabilities: envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined,
      };
    }
    const { server } = this;
    return {
      era: 'legacy',
      // Without a session nothing was negotiated here, but the client says what was.
      protocolVersion: server.getNegotiatedProtocolVersion() ?? versionIn(http) ?? OLDEST_ASSUMED,
      clientInfo: server.getClientVersion(),
      clientCapabilities: server.getClientCapabilities(),
    };
  }
}

/** What a client says of its round. Those of the 2025 era know none: what they send under these names is not that. */
const roundOf = (
  era: Exchange['era'],
  { inputResponses, droppedInputResponseKeys, requestState }: ServerContext['mcpReq'],
): Pick<Exchange, 'inputResponses' | 'malformedResponses' | 'requestState'> =>
  era === 'legacy'
    ? { requestState: () => undefined }
    : { inputResponses, malformedResponses: droppedInputResponseKeys, requestState };

/** The revision of a 2025-era request that names none (specification 2025-11-25: basic/transports). */
const OLDEST_ASSUMED = '2025-03-26';

function versionIn(http: HttpExchange | undefined): string | undefined {
  const version = http?.headers['mcp-protocol-version'];
  return typeof version === 'string' && SUPPORTED_PROTOCOL_VERSIONS.includes(version) ? version : undefined;
}
