import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  isJSONRPCErrorResponse,
  LOG_LEVEL_META_KEY,
  McpServer,
  PROTOCOL_VERSION_META_KEY,
  ResourceNotFoundError,
  SUPPORTED_PROTOCOL_VERSIONS,
  type ClientCapabilities,
  type Implementation,
  type LoggingLevel,
  type Result,
  type ServerCapabilities,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { STDIO_CALLER } from '../protocol/caller-limit.js';
import type { McpException } from '../exceptions/mcp.exception.js';
import type { AskClient, Era, HttpExchange, McpCall, Params, ReplyChannel } from '../protocol/mcp-call.js';
import { whole } from './answer-encoder.js';
import type { McpServerInstance } from './mcp-server-instance.js';
import { observeMessages } from './observed-messages.js';
import { passthroughSchema } from './passthrough-schema.js';
import { RunningCall, type RunningCalls } from '../protocol/running-calls.js';
import { RESOURCE_NOT_FOUND } from './wire-codec.js';

/** The data that all calls on a connection of the 2025 era share. */
export type ConnectionData = Pick<
  McpCall,
  | 'era'
  | 'protocolVersion'
  | 'clientInfo'
  | 'clientCapabilities'
  | 'minLogLevel'
  | 'channel'
  | 'subscriptions'
>;

/** Finds the HTTP exchange of a message that the SDK's server passes on. */
export type HttpOf = (request: Request | undefined) => HttpExchange | undefined;

/** A call that the SDK's server carries, over stdio or by the SDK's own HTTP handler. */
class SdkCall extends RunningCall {
  readonly ask?: AskClient;
  /** Answers the call without its handler. */
  fail: (error: McpException) => void = () => undefined;

  constructor(
    private readonly request: ServerContext['mcpReq'],
    caller: string,
    canAsk: boolean,
  ) {
    super(caller);
    const { signal } = request;
    if (signal.aborted) this.abort(signal.reason);
    else signal.addEventListener('abort', () => this.abort(signal.reason), { once: true });
    if (canAsk) {
      this.ask = (method, params, options) =>
        this.asked(() => request.send({ method, params }, passthroughSchema, options));
    }
  }

  notify(method: string, params: Record<string, unknown>): Promise<void> {
    return this.request.notify({ method, params });
  }
}

/**
 * The SDK's server, whose handlers only call the pipeline. It serves stdio, sessions and unusual HTTP requests, but no
 * method whose reply stays open. It registers no tools, so that the SDK does not check `Mcp-Param-*` headers.
 */
export class SdkServer extends McpServer {
  /** The log level that a 2025-era client has set on its connection. */
  protected level: LoggingLevel = 'debug';
  protected channel?: McpCall['channel'];
  protected readonly subscriptions?: McpCall['subscriptions'];
  /** The methods that the pipeline answers. */
  private readonly methods: ReadonlySet<string>;
  /** The data of errors for missing resources, to recognize these errors when they are sent. */
  private readonly missing = new WeakSet<object>();

  constructor(
    protected readonly instance: McpServerInstance,
    era: Era,
    capabilities: ServerCapabilities,
    private readonly running: RunningCalls,
    private readonly httpOf: HttpOf = () => undefined,
  ) {
    super(instance.info, instance.sdkOptions);
    const { server } = this;
    server.onerror = error => instance.reportRejected(error);
    server.registerCapabilities(capabilities);
    if (capabilities.logging) {
      server.setRequestHandler('logging/setLevel', async ({ params: { level } }) => {
        await this.setLevel(level);
        return {};
      });
    }
    this.methods = new Set(instance.methodsOf(era));
    for (const method of this.methods) {
      server.setRequestHandler(method, { params: passthroughSchema }, (params, ctx) =>
        this.serve(method, params as Params, ctx),
      );
    }
  }

  /** Rewrites error codes. The SDK sends -32602 of 2026-07-28 to every client, and has no hook for another code. */
  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const isMissing = isJSONRPCErrorResponse(message) && this.missing.has(message.error.data as object);
      return send(
        isMissing ? { ...message, error: { ...message.error, code: RESOURCE_NOT_FOUND } } : message,
        options,
      );
    };
    await super.connect(transport);
    const { observer, asking } = this.instance;
    if (!observer || !asking) return;
    observeMessages(transport, {
      observer,
      asking,
      isOwn: method => this.methods.has(method),
      about: extra => {
        const http = extra?.http ?? this.httpOf(extra?.request);
        const protocolVersion = this.server.getNegotiatedProtocolVersion() ?? versionIn(http);
        return {
          ...this.connectionData(),
          protocolVersion,
          sessionId: transport.sessionId,
          http,
          authInfo: extra?.authInfo,
        };
      },
    });
  }

  protected async setLevel(level: LoggingLevel): Promise<void> {
    this.level = level;
  }

  connectionData(): ConnectionData {
    const { server } = this;
    return {
      era: 'legacy',
      protocolVersion: server.getNegotiatedProtocolVersion() ?? OLDEST_ASSUMED,
      clientInfo: server.getClientVersion(),
      clientCapabilities: server.getClientCapabilities(),
      minLogLevel: server.getCapabilities().logging && this.level,
      channel: this.channel,
      subscriptions: this.subscriptions,
    };
  }

  /** Whether the connection lasts, so that the server can send requests on it (2025 era). */
  protected get carriesRequests(): boolean {
    return false;
  }

  /** Sends a request to the client on behalf of the connection itself. */
  protected async askOnConnection(...asked: Parameters<AskClient>): Promise<Result> {
    const [method, , { signal }] = asked;
    const send: AskClient = (name, params, options) =>
      this.server.request({ method: name, params }, passthroughSchema, options);
    return this.instance.extensions.ask(this.callOfConnection(method, signal), send, ...asked);
  }

  /** Sends notifications to the client on behalf of the connection itself. */
  protected tellerOnConnection(): ReplyChannel['notify'] {
    const callOf = () => this.callOfConnection('notifications/message');
    const { extensions } = this.instance;
    return extensions.notifier(callOf, (method, params) => this.server.notification({ method, params }));
  }

  private callOfConnection(method: string, signal = new AbortController().signal): McpCall {
    return {
      ...this.connectionData(),
      requestId: method,
      method,
      params: {},
      sessionId: this.server.transport?.sessionId,
      reply: { signal, notify: () => Promise.resolve() },
    };
  }

  private serve(method: string, params: Params, ctx: ServerContext): Promise<Result> {
    const http = this.httpOf(ctx.http?.req);
    const canAsk = this.carriesRequests && ctx.mcpReq.envelope === undefined;
    const reply = new SdkCall(ctx.mcpReq, http?.caller ?? STDIO_CALLER, canAsk);
    const call = this.callOf(method, params, ctx, http, reply);
    reply.called = call;
    this.running.add(reply);
    return new Promise((resolve, reject) => {
      reply.fail = reject;
      this.served(call)
        .finally(() => this.running.delete(reply))
        .then(resolve, reject);
    });
  }

  private async served(call: McpCall): Promise<Result> {
    try {
      return await this.instance.serve(call, async result => {
        const answer = await whole(this.instance, call, result);
        // Checked here, because the SDK fails only while it writes the answer, and then sends none.
        JSON.stringify(answer);
        return answer;
      });
    } catch (error) {
      if (call.era === 'legacy' && error instanceof ResourceNotFoundError)
        this.missing.add(error.data as object);
      throw error;
    }
  }

  private callOf(
    method: string,
    params: Params,
    ctx: ServerContext,
    http: HttpExchange | undefined,
    reply: ReplyChannel,
  ): McpCall {
    const { mcpReq } = ctx;
    const common = { requestId: mcpReq.id, method, params, reply, http, sessionId: ctx.sessionId };
    const client = { authInfo: ctx.http?.authInfo, meta: mcpReq._meta };
    const envelope: Params | undefined = mcpReq.envelope;
    const version = envelope?.[PROTOCOL_VERSION_META_KEY];
    if (typeof version !== 'string') {
      const connection = this.connectionData();
      // Without a session, no version was negotiated here, but the client sends the version in a header.
      const negotiated = this.server.getNegotiatedProtocolVersion() ?? versionIn(http);
      return { ...common, ...client, ...connection, ...(negotiated && { protocolVersion: negotiated }) };
    }
    return {
      ...common,
      ...client,
      era: 'modern',
      protocolVersion: version,
      clientInfo: envelope?.[CLIENT_INFO_META_KEY] as Implementation | undefined,
      clientCapabilities: envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined,
      minLogLevel: this.server.getCapabilities().logging && (envelope?.[LOG_LEVEL_META_KEY] as LoggingLevel),
      inputResponses: mcpReq.inputResponses,
      malformedResponses: mcpReq.droppedInputResponseKeys,
      requestState: mcpReq.requestState(),
    };
  }
}

/** Creates the SDK's server for one HTTP request. */
export function serverForRequest(instance: McpServerInstance, era: Era, httpOf: HttpOf): SdkServer {
  const { capabilities, running } = instance;
  return new SdkServer(
    instance,
    era,
    era === 'modern' ? capabilities : withoutChanges(capabilities),
    running,
    httpOf,
  );
}

/** A 2025-era client without a session has no stream for change notifications. */
function withoutChanges({ tools, prompts, resources, ...rest }: ServerCapabilities): ServerCapabilities {
  return {
    ...rest,
    ...(tools && { tools: {} }),
    ...(prompts && { prompts: {} }),
    ...(resources && { resources: {} }),
  };
}

/**
 * The assumed revision of a 2025-era request that does not name its revision (specification 2025-11-25:
 * basic/transports).
 */
export const OLDEST_ASSUMED = '2025-03-26';

/** The supported revision that a 2025-era request names in its header. */
export function versionIn(http: Pick<HttpExchange, 'headers'> | undefined): string | undefined {
  const version = http?.headers['mcp-protocol-version'];
  return typeof version === 'string' && SUPPORTED_PROTOCOL_VERSIONS.includes(version) ? version : undefined;
}
