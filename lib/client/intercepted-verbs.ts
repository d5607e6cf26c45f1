import { setMaxListeners } from 'node:events';
import type {
  CacheableRequestOptions,
  CallToolRequestOptions,
  Client,
  EmptyResult,
  LoggingLevel,
  McpSubscription,
  Request,
  RequestOptions,
  Result,
  StandardSchemaV1,
  SubscriptionFilter,
} from '@modelcontextprotocol/client';
import { ConnectionError } from '../connection/connection.js';
import { ON_TASK, type TaskCallOptions } from '../connection/task-client.js';
import type { TaskStart } from '../connection/task-handle.js';
import { type KnownTool, readTool } from '../connection/tool-definitions.js';
import type { Chain } from '../interceptors/chain/chain.js';
import { EVENT_OF } from '../interceptors/protocol/events.js';
import type { InvocationContext } from '../interceptors/protocol/types.js';
import type { ClientBoundary, InterceptedRequest, Payload } from './client-boundary.js';

const INTERCEPTED_VERBS = {
  callTool: 'tools/call',
  listTools: 'tools/list',
  getPrompt: 'prompts/get',
  listPrompts: 'prompts/list',
  readResource: 'resources/read',
  listResources: 'resources/list',
  listResourceTemplates: 'resources/templates/list',
  complete: 'completion/complete',
  subscribeResource: 'resources/subscribe',
} as const;

type InterceptedVerb = keyof typeof INTERCEPTED_VERBS;

export type ClientVerbs = Pick<
  Client,
  InterceptedVerb | 'listen' | 'ping' | 'request' | 'setLoggingLevel' | 'unsubscribeResource'
> & {
  /** The revision, once it is negotiated. Without it, `compat` of interceptors is not checked. */
  getNegotiatedProtocolVersion?(): string | undefined | Promise<string | undefined>;
};

interface Governed {
  context?: InvocationContext;
  /**
   * Time for each step, in milliseconds: the opening of the connection, each phase of the chain, and the request.
   * Default: the configured time of the step; 60,000 for the request.
   */
  timeout?: number;
}

// Without `allowInputRequired`: only handlers answer the input requests of a server, and the chain runs around them.
export type McpRequestOptions = Omit<RequestOptions, 'allowInputRequired'> & Governed;
export type McpListOptions = Omit<CacheableRequestOptions, 'allowInputRequired'> & Governed;
export type McpCallToolOptions = Omit<CallToolRequestOptions, 'allowInputRequired' | 'toolDefinition'> &
  Governed & {
    /** Definition of the tool for this call only, read when the call starts. Default: the known definition. */
    toolDefinition?: KnownTool;
  };

type Params<V extends keyof ClientVerbs> = Parameters<Client[V]>[0];
type Answer<V extends keyof ClientVerbs> = ReturnType<Client[V]>;

/** The verbs of a client, each with the chain around it. A refusal is thrown as an `McpException`. */
export abstract class InterceptedVerbs {
  protected constructor(protected readonly boundary: ClientBoundary) {}

  protected abstract use<T>(
    options: RequestOptions | undefined,
    work: (client: ClientVerbs) => Promise<T>,
  ): Promise<T>;

  /** Called for a request that failed before it got a connection. */
  protected unsent(_method: string, _params: Payload): void {}

  protected abstract protocolVersion(
    chain: Chain,
    options: McpRequestOptions,
  ): string | undefined | Promise<string | undefined>;

  /**
   * Calls a tool.
   * @throws TypeError for a wrong `toolDefinition`
   */
  async callTool(params: Params<'callTool'>, options?: McpCallToolOptions): Answer<'callTool'> {
    return this.calling(params, options);
  }

  /** Lists the tools: without a `cursor` all of them, and the chain runs once for all. */
  listTools(params?: Params<'listTools'>, options?: McpListOptions): Answer<'listTools'> {
    return this.through('listTools', params, options);
  }

  /** Gets a prompt. Specification: server/prompts. */
  getPrompt(params: Params<'getPrompt'>, options?: McpRequestOptions): Answer<'getPrompt'> {
    return this.through('getPrompt', params, options);
  }

  /** Lists the prompts: without a `cursor` all of them, and the chain runs once for all. */
  listPrompts(params?: Params<'listPrompts'>, options?: McpListOptions): Answer<'listPrompts'> {
    return this.through('listPrompts', params, options);
  }

  /** Reads a resource. Specification: server/resources. */
  readResource(params: Params<'readResource'>, options?: McpListOptions): Answer<'readResource'> {
    return this.through('readResource', params, options);
  }

  /** Lists the resources: without a `cursor` all of them, and the chain runs once for all. */
  listResources(params?: Params<'listResources'>, options?: McpListOptions): Answer<'listResources'> {
    return this.through('listResources', params, options);
  }

  /** Lists the resource templates, under the event `resources/list`. */
  listResourceTemplates(
    params?: Params<'listResourceTemplates'>,
    options?: McpListOptions,
  ): Answer<'listResourceTemplates'> {
    return this.through('listResourceTemplates', params, options);
  }

  /** Asks for completions of an argument, under the event `completion/complete`. */
  complete(params: Params<'complete'>, options?: McpRequestOptions): Answer<'complete'> {
    return this.through('complete', params, options);
  }

  /** Asks to be told when a resource changes (2025 revisions; `listen` on 2026-07-28). */
  subscribeResource(
    params: Params<'subscribeResource'>,
    options?: McpRequestOptions,
  ): Answer<'subscribeResource'> {
    return this.through('subscribeResource', params, options);
  }

  /** Takes `subscribeResource` back. Not intercepted. */
  unsubscribeResource(
    params: Params<'unsubscribeResource'>,
    options?: McpRequestOptions,
  ): Answer<'unsubscribeResource'> {
    return this.use(options, client => client.unsubscribeResource(params, forSdk(options)));
  }

  /**
   * Opens a stream of changes (2026-07-28; `subscribeResource` on 2025 revisions). Each resource passes the chain as
   * `resources/subscribe`: a refusal refuses the stream, an interceptor's own answer leaves the resource out.
   */
  async listen(filter: SubscriptionFilter, options?: McpRequestOptions): Promise<McpSubscription> {
    const admit = async (uri: string) => {
      let admitted: unknown;
      await this.boundary.around(this.intercepted('resources/subscribe', { uri }, options), async params => {
        admitted = params['uri'];
        return {};
      });
      return admitted as string | undefined;
    };
    const { resourceSubscriptions: uris, ...rest } = filter;
    const admitted = uris && (await Promise.all(uris.map(admit))).filter(uri => uri !== undefined);
    const allowed = admitted ? { ...rest, resourceSubscriptions: admitted } : rest;
    return this.use(options, client => client.listen(allowed, forSdk(options)));
  }

  ping(options?: McpRequestOptions): Promise<EmptyResult> {
    return this.use(options, client => client.ping(forSdk(options)));
  }

  /** Asks for log messages of this level and above (2025 revisions). */
  setLoggingLevel(level: LoggingLevel, options?: McpRequestOptions): Promise<EmptyResult> {
    return this.use(options, client => client.setLoggingLevel(level, forSdk(options)));
  }

  /** Sends any request. The chain runs for methods of the protocol that have an event. Use `listen` for a stream. */
  readonly request: Client['request'] = async (
    { method, params }: Request,
    ...rest: (StandardSchemaV1 | RequestOptions | undefined)[]
  ): Promise<never> => {
    if (method === 'subscriptions/listen') {
      throw new TypeError('Use listen(), which asks the interceptors, for subscriptions/listen');
    }
    const schema = rest.filter(isSchema);
    const options = rest[schema.length] as RequestOptions | undefined;
    const send = (client: ClientVerbs, sent: Request['params'], own?: RequestOptions) =>
      client.request({ method, ...(sent && { params: sent }) }, ...([...schema, own] as [StandardSchemaV1]));
    return (await (Object.hasOwn(EVENT_OF, method)
      ? this.around(method, params, options, send as SdkVerb)
      : this.use(options, client => send(client, params, forSdk(options))))) as never;
  };

  /** @param start for a call that does not wait for the result of its task */
  protected calling(
    params: Params<'callTool'>,
    { toolDefinition, ...options }: McpCallToolOptions = {},
    start?: TaskStart,
  ): Answer<'callTool'> {
    const given = toolDefinition && {
      toolDefinition: readTool(toolDefinition, 'toolDefinition', params.name),
    };
    const verb = (client: ClientVerbs, sent: Params<'callTool'>, own?: RequestOptions) => {
      // An interceptor may have changed which tool is called.
      const known = sent.name === params.name ? given : undefined;
      const all: TaskCallOptions = { ...own, ...known, ...(start && { [ON_TASK]: start.onTask }) };
      return client.callTool(sent, all);
    };
    return this.around('tools/call', params, options, verb, start?.begun);
  }

  private through<V extends InterceptedVerb>(
    verb: V,
    params: Params<V> | undefined,
    options: McpRequestOptions | undefined,
  ): Answer<V> {
    const answer = this.around(INTERCEPTED_VERBS[verb], params, options, (client, sent, own) =>
      (client[verb] as (...sent: [object, object?]) => Promise<Result>)(sent, own),
    );
    return answer as Answer<V>;
  }

  private around<P extends object, R extends Result>(
    method: string,
    params: P | undefined,
    options: McpRequestOptions | undefined,
    verb: (client: ClientVerbs, params: P, options: RequestOptions | undefined) => Promise<R>,
    begun?: Promise<unknown>,
  ): Promise<R> {
    const intercepted = this.intercepted(method, params ?? {}, options);
    const send = async (final: Payload) => {
      try {
        // A task that nobody waits for does not need the connection of its call.
        const { answer } = await this.use(options, async client => {
          const pending = verb(client, final as P, forSdk(options));
          await (begun ? Promise.race([begun, pending]) : pending);
          return { answer: pending };
        });
        return await answer;
      } catch (error) {
        if (error instanceof ConnectionError) this.unsent(method, final);
        throw error;
      }
    };
    return this.boundary.around(intercepted, send) as Promise<R>;
  }

  private intercepted(method: string, params: Payload, options: McpRequestOptions = {}): InterceptedRequest {
    const { signal, timeout: timeoutMs, context } = options;
    // A caller may give one signal to many requests, each of which listens to it until it is over.
    if (signal) setMaxListeners(0, signal);
    const protocolVersion = (chain: Chain) => this.protocolVersion(chain, options);
    return { method, isAsked: true, params, signal, timeoutMs, context, protocolVersion };
  }
}

type SdkVerb = (client: ClientVerbs, params: object, options: RequestOptions | undefined) => Promise<Result>;

const isSchema = (value: object | undefined): value is StandardSchemaV1 =>
  value !== undefined && '~standard' in value;

/** Options for the SDK. The handlers answer all input requests, so the caller gets none. */
function forSdk(options: McpRequestOptions | undefined): RequestOptions | undefined {
  if (options === undefined) return undefined;
  const {
    context: _context,
    allowInputRequired: _manual,
    ...rest
  } = options as RequestOptions & McpRequestOptions;
  return rest;
}
