import { setMaxListeners } from 'node:events';
import type {
  CallToolRequest,
  CallToolResult,
  Client,
  CompleteRequest,
  CompleteResult,
  EmptyResult,
  GetPromptRequest,
  GetPromptResult,
  ListPromptsRequest,
  ListPromptsResult,
  ListResourcesRequest,
  ListResourcesResult,
  ListResourceTemplatesRequest,
  ListResourceTemplatesResult,
  ListToolsRequest,
  ListToolsResult,
  LoggingLevel,
  McpSubscription,
  ReadResourceRequest,
  ReadResourceResult,
  Request,
  RequestOptions,
  Result,
  StandardSchemaV1,
  SubscribeRequest,
  SubscriptionFilter,
  UnsubscribeRequest,
} from '@modelcontextprotocol/client';
import type { Chain } from '../interceptors/chain/chain.js';
import { EVENT_OF } from '../interceptors/protocol/events.js';
import type { ClientBoundary, Crossing, Payload } from './client-boundary.js';
import type { ClientVerbs, McpCallToolOptions, McpListOptions, McpRequestOptions } from './client-verbs.js';
import { readToolDefinition } from '../connection/known-tool.js';

/** The verbs of a client, each with the chain around it. What interceptors refuse is thrown as an `McpException`. */
export abstract class InterceptedVerbs {
  protected constructor(
    protected readonly verbs: ClientVerbs,
    protected readonly boundary: ClientBoundary,
  ) {}

  /**
   * Calls a tool. Specification: server/tools.
   * @throws TypeError for a `toolDefinition` that is no tool, or another one, or breaks a rule of `x-mcp-header`
   */
  async callTool(
    params: CallToolRequest['params'],
    { toolDefinition, ...options }: McpCallToolOptions = {},
  ): Promise<CallToolResult> {
    const given = toolDefinition && { toolDefinition: readToolDefinition(toolDefinition, params.name) };
    return this.through('tools/call', params, options, (sent, sentOptions) =>
      // An interceptor may have made it the call of another tool.
      this.verbs.callTool(sent, sent.name === params.name ? { ...sentOptions, ...given } : sentOptions),
    );
  }

  /** Lists the tools: without a `cursor` all of them, and the chain runs once for all. */
  listTools(params?: ListToolsRequest['params'], options?: McpListOptions): Promise<ListToolsResult> {
    return this.through('tools/list', params, options, (...args) => this.verbs.listTools(...args));
  }

  /** Gets a prompt. Specification: server/prompts. */
  getPrompt(params: GetPromptRequest['params'], options?: McpRequestOptions): Promise<GetPromptResult> {
    return this.through('prompts/get', params, options, (...args) => this.verbs.getPrompt(...args));
  }

  /** Lists the prompts: without a `cursor` all of them, and the chain runs once for all. */
  listPrompts(params?: ListPromptsRequest['params'], options?: McpListOptions): Promise<ListPromptsResult> {
    return this.through('prompts/list', params, options, (...args) => this.verbs.listPrompts(...args));
  }

  /** Reads a resource. Specification: server/resources. */
  readResource(params: ReadResourceRequest['params'], options?: McpListOptions): Promise<ReadResourceResult> {
    return this.through('resources/read', params, options, (...args) => this.verbs.readResource(...args));
  }

  /** Lists the resources: without a `cursor` all of them, and the chain runs once for all. */
  listResources(
    params?: ListResourcesRequest['params'],
    options?: McpListOptions,
  ): Promise<ListResourcesResult> {
    return this.through('resources/list', params, options, (...args) => this.verbs.listResources(...args));
  }

  /** Lists the resource templates, under the event `resources/list`. */
  listResourceTemplates(
    params?: ListResourceTemplatesRequest['params'],
    options?: McpListOptions,
  ): Promise<ListResourceTemplatesResult> {
    return this.through('resources/templates/list', params, options, (...args) =>
      this.verbs.listResourceTemplates(...args),
    );
  }

  /** Asks for completions of an argument, under the event `completion/complete`. */
  complete(params: CompleteRequest['params'], options?: McpRequestOptions): Promise<CompleteResult> {
    return this.through('completion/complete', params, options, (...args) => this.verbs.complete(...args));
  }

  /** Asks to be told when a resource changes (2025 revisions; `listen` on 2026-07-28). */
  subscribeResource(params: SubscribeRequest['params'], options?: McpRequestOptions): Promise<EmptyResult> {
    return this.through('resources/subscribe', params, options, (...args) =>
      this.verbs.subscribeResource(...args),
    );
  }

  /** Takes `subscribeResource` back. Not intercepted. */
  unsubscribeResource(
    params: UnsubscribeRequest['params'],
    options?: McpRequestOptions,
  ): Promise<EmptyResult> {
    return this.verbs.unsubscribeResource(params, forSdk(options));
  }

  /**
   * Opens a stream of changes (2026-07-28; `subscribeResource` on 2025 revisions). The chain decides on each resource
   * as on a `resources/subscribe`: one that it refuses refuses the stream, one that it answers itself is left out.
   */
  async listen(filter: SubscriptionFilter, options?: McpRequestOptions): Promise<McpSubscription> {
    const { resourceSubscriptions, ...rest } = filter;
    const admitted = await Promise.all(
      (resourceSubscriptions ?? []).map(uri =>
        this.boundary.admit(this.crossing('resources/subscribe', { uri }, options)),
      ),
    );
    const uris = admitted.flatMap(params => (params ? [params['uri'] as string] : []));
    const allowed = resourceSubscriptions ? { ...rest, resourceSubscriptions: uris } : rest;
    return this.verbs.listen(allowed, forSdk(options));
  }

  /** Asks whether the server is there (2025 revisions). */
  ping(options?: McpRequestOptions): Promise<EmptyResult> {
    return this.verbs.ping(forSdk(options));
  }

  /** Asks for log messages of this level and above (2025 revisions). */
  setLoggingLevel(level: LoggingLevel, options?: McpRequestOptions): Promise<EmptyResult> {
    return this.verbs.setLoggingLevel(level, forSdk(options));
  }

  /**
   * Sends any request. Methods of one's own are not intercepted; those of the protocol that have an event are, however
   * they are sent. A stream of changes is opened by `listen` alone.
   */
  readonly request: Client['request'] = (
    request: Request,
    schemaOrOptions?: StandardSchemaV1 | RequestOptions,
    maybeOptions?: RequestOptions,
  ): Promise<never> => {
    const schema = isSchema(schemaOrOptions) ? schemaOrOptions : undefined;
    const given = isSchema(schemaOrOptions) ? maybeOptions : schemaOrOptions;
    const send = (params: Request['params'], options?: RequestOptions) => {
      const sent = params === undefined ? { method: request.method } : { method: request.method, params };
      return schema
        ? this.verbs.request(sent, schema, options)
        : this.verbs.request(sent as { method: 'ping' }, options);
    };
    if (request.method === 'subscriptions/listen') {
      return Promise.reject(
        new TypeError('Use listen(), which asks the interceptors, for subscriptions/listen'),
      );
    }
    return (
      Object.hasOwn(EVENT_OF, request.method)
        ? this.through(request.method, request.params, given, send as (...args: SdkCall) => Promise<Result>)
        : send(request.params, forSdk(given))
    ) as Promise<never>;
  };

  private through<P extends object, O extends McpRequestOptions, R extends Result>(
    method: string,
    params: P | undefined,
    options: O | undefined,
    verb: (params: P, options: Omit<O, 'context'> | undefined) => Promise<R>,
  ): Promise<R> {
    const crossing = this.crossing(method, params ?? {}, options);
    return this.boundary.around(crossing, final => verb(final as P, forSdk(options))) as Promise<R>;
  }

  private crossing(method: string, params: Payload, options: McpRequestOptions = {}): Crossing {
    const { signal, timeout, context } = options;
    // A caller may give one signal to many requests, each of which listens to it until it is over.
    if (signal) setMaxListeners(0, signal);
    return {
      method,
      way: 'out',
      params,
      ...(signal && { signal }),
      ...(timeout !== undefined && { timeoutMs: timeout }),
      ...(context && { context }),
      protocolVersion: chain => this.protocolVersion(chain, options),
    };
  }

  /** The revision against which the chain's `compat` is checked. */
  protected async protocolVersion(_chain: Chain, _options: McpRequestOptions): Promise<string | undefined> {
    return this.verbs.getNegotiatedProtocolVersion?.();
  }
}

type SdkCall = [params: Request['params'], options: RequestOptions | undefined];

const isSchema = (value: object | undefined): value is StandardSchemaV1 =>
  value !== undefined && '~standard' in value;

/** What the SDK is told, which fulfils input requests through the handlers and hands none of them out. */
function forSdk<O extends McpRequestOptions>(options: O | undefined): Omit<O, 'context'> | undefined {
  if (options === undefined) return undefined;
  const { context: _context, allowInputRequired: _manual, ...rest } = options as O & RequestOptions;
  return rest as unknown as Omit<O, 'context'>;
}
