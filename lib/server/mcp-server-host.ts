import { Logger } from '@nestjs/common';
import {
  InMemoryServerEventBus,
  type Implementation,
  type McpServerOptions,
  type Result,
  type ServerCapabilities,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { Catalog, type DeclaredCapabilities } from '../catalog/catalog.js';
import { Boundary, type BoundaryOptions } from '../interceptors/boundary/boundary.js';
import type { Listings } from '../interceptors/boundary/listing.js';
import type { LocalChainSource } from '../interceptors/chain-source.js';
import { InterceptorServer } from '../interceptors/served/interceptor-server.js';
import { INTERCEPTORS_EXTENSION } from '../interceptors/protocol/types.js';
import type { InterceptorReports } from '../interceptors/reports.js';
import type { ResolvedOptions } from '../mcp.module-options.js';
import { Rounds } from '../mrtr/rounds.js';
import { withAnswersReceived } from '../mrtr/responses.js';
import { notifierOver, type ChangeNotifier } from './changes.js';
import { ConnectionServer } from './connection-server.js';
import { Dispatcher, type DispatchedMethod, type Params } from './dispatcher.js';
import { ExchangeServer, type ExchangeHost } from './exchange-server.js';
import type { AskClient, Era, Exchange, HttpExchange } from './exchange.js';
import { HandlerTable } from './handler-table.js';
import { listingsOf } from './listings.js';
import { mirrorCheck, type MirrorCheck } from './mirror-check.js';
import { RunningCalls } from './running-calls.js';
import type { Upstream } from './upstream.js';

/** One server of the application: its options, its catalogue, and what every exchange with it shares. */
export class McpServerHost implements ExchangeHost {
  private readonly ownInfo: Implementation;
  private readonly ownOptions: McpServerOptions;
  readonly bus: ServerEventBus;
  readonly table: HandlerTable;
  readonly changes: ChangeNotifier;
  readonly rounds: Rounds;
  /** The calls that came over HTTP. */
  readonly running = new RunningCalls();
  private readonly answering: Pick<Dispatcher, 'dispatch' | 'admitSubscription'>;
  private readonly assertMirrored: MirrorCheck;
  private boundary?: Boundary;
  private interceptorServer?: InterceptorServer;
  /** The paths of the HTTP endpoint, once the application has started. */
  paths: readonly string[] = [];
  /** The interceptors that govern this server, once the application has started. */
  chain?: LocalChainSource;
  private readonly interceptorListeners = new Set<() => void>();
  private readonly logger: Logger;
  private readonly https = new WeakMap<Request, HttpExchange>();
  private current?: Catalog;
  private readonly declared: DeclaredCapabilities;

  /** @param upstream what answers in the place of the application's handlers */
  constructor(
    readonly options: ResolvedOptions,
    readonly upstream?: Upstream,
  ) {
    const { name, version, title, icons, websiteUrl, instructions } = options;
    // Of a method that the SDK does not know.
    const { 'interceptors/list': _listing, ...cache } = options.cache;
    this.logger = new Logger(`McpModule(${name})`);
    this.ownInfo = {
      name,
      version,
      ...(title !== undefined && { title }),
      ...(icons && { icons }),
      ...(websiteUrl !== undefined && { websiteUrl }),
    };
    this.ownOptions = {
      ...(instructions !== undefined && { instructions }),
      cacheHints: cache,
      inputRequired: {
        maxRounds: options.mrtr.maxRounds,
        roundTimeoutMs: options.mrtr.suspension.idleTimeoutMs,
      },
      // Shared, because the SDK would otherwise make one for every exchange.
      jsonSchemaValidator: new AjvJsonSchemaValidator(),
    };
    this.declared = { ...options.capabilities };
    this.bus = new InMemoryServerEventBus(error => this.report(error));
    this.changes = notifierOver(this.bus);
    this.table = new HandlerTable(upstream && `the server "${name}" is a gateway; ${GATEWAY_REMEDY}`);
    this.rounds = new Rounds(name, options.mrtr);
    this.assertMirrored = mirrorCheck((tool, exchange) =>
      upstream ? upstream.toolSchemas(tool, exchange) : this.catalog.tools.get(tool)?.definition,
    );
    this.answering = upstream ?? new Dispatcher(() => this.catalog, this.changes, this.rounds);
  }

  get info(): Implementation {
    return this.upstream?.description.info ?? this.ownInfo;
  }

  get sdkOptions(): McpServerOptions {
    const { ownOptions, upstream } = this;
    if (!upstream) return ownOptions;
    const { instructions } = upstream.description;
    return { ...(instructions !== undefined && { instructions }), ...ownOptions };
  }

  /** Sets a client's log level, where that is for the upstream to do. */
  get setLevel(): ExchangeHost['setLevel'] {
    const { upstream } = this;
    return (
      upstream &&
      ((params, exchange) => this.tell('logging/setLevel', exchange, told => upstream.setLevel(params, told)))
    );
  }

  outputSchema(name: string, exchange: Exchange): ReturnType<ExchangeHost['outputSchema']> {
    const { upstream } = this;
    if (!upstream) return this.catalog.tools.get(name)?.definition.outputSchema;
    // The call has been made: its result counts, however it can be shown.
    return upstream.toolSchemas(name, exchange).then(
      schemas => schemas?.outputSchema,
      () => undefined,
    );
  }

  /** What the server offers now. */
  get catalog(): Catalog {
    return (this.current ??= this.compileCatalog());
  }

  /** Makes what the table holds now what the server offers. Many changes in a row cost one new catalogue. */
  publish(): void {
    this.current = undefined;
  }

  /** Answers a method, through the chain where there is one. */
  dispatch(method: DispatchedMethod, params: Params, exchange: Exchange): Promise<Result> {
    return this.rounds.answer(exchange, current =>
      this.boundary
        ? this.boundary.dispatch(method, params, current)
        : this.dispatchUngoverned(method, params, current),
    );
  }

  ask(exchange: Exchange, send: AskClient, ...asked: Parameters<AskClient>): Promise<Result> {
    return this.boundary ? this.boundary.ask(exchange, send, ...asked) : send(...asked);
  }

  onInterceptorsChanged(listener: () => void): () => void {
    this.interceptorListeners.add(listener);
    return () => void this.interceptorListeners.delete(listener);
  }

  teller(exchangeOf: () => Exchange, send: Exchange['notify']): Exchange['notify'] {
    return this.boundary?.teller(exchangeOf, send) ?? send;
  }

  /** Puts a chain around this server's traffic and serves the application's part of it to others, as the options say. */
  govern(chain: LocalChainSource, reports: InterceptorReports): void {
    const { name, interceptors: settings, pageSize } = this.options;
    this.chain = chain;
    if (settings.expose) {
      const log = (message: string) => this.logger.warn(message);
      const { ttlMs } = this.options.cache['interceptors/list'] ?? {};
      this.interceptorServer = new InterceptorServer(chain, { pageSize, ttlMs, log });
      chain.onChange(() => {
        for (const tell of this.interceptorListeners) tell();
      });
    }
    const isEmpty = chain.local.length + settings.servers.length === 0 && !settings.resolveServers;
    if (!settings.apply || isEmpty) return;
    const { upstream } = this;
    const dispatch: BoundaryOptions['dispatch'] = upstream
      ? // What a backend has asked, only the backend knows.
        async (method, params, exchange) =>
          upstream.dispatch(method, params, await withAnswersReceived(exchange))
      : (method, params, exchange) => this.answering.dispatch(method, params, exchange);
    const listings: Listings = upstream
      ? { pageShowing: (method, params, exchange) => upstream.listingFor(method, params, exchange) }
      : listingsOf(() => this.catalog);
    this.boundary = new Boundary({
      server: name,
      source: chain,
      settings,
      reports,
      listings,
      dispatch,
      assertMirrored: this.assertMirrored,
    });
  }

  /**
   * Lets interceptors decide on a subscription that the SDK's entries serve by themselves.
   * @throws McpException where it was refused
   */
  async interceptSubscription(uri: string, exchange: Exchange): Promise<void> {
    await this.boundary?.admitSubscription(uri, exchange);
  }

  /**
   * Lets guards, or what stands behind the server, decide on one that interceptors let pass.
   * @throws NotHonoredError for what will not be told of, and McpException where it was refused
   */
  admitSubscription(uri: string, exchange: Exchange): Promise<void> {
    return this.answering.admitSubscription(uri, exchange);
  }

  /** Methods beside the protocol's own. */
  get extensionMethods(): ExchangeHost['extensionMethods'] {
    const foreign = Object.entries(this.upstream?.extensionMethods ?? {}).map(
      ([method, answer]): [string, typeof answer] => [
        method,
        (params, exchange) => this.tell(method, exchange, told => answer(params, told)),
      ],
    );
    return { ...Object.fromEntries(foreign), ...this.interceptorServer?.methods };
  }

  /** A server for one HTTP exchange. */
  forExchange(era: Era): ExchangeServer {
    const { capabilities } = this;
    return new ExchangeServer(
      this,
      era === 'modern' ? capabilities : withoutChanges(capabilities),
      this.running,
    );
  }

  /**
   * A server for a connection that lasts: a session, or stdio.
   * @param running the calls of its transport
   */
  forConnection(era: Era, running = this.running): ConnectionServer {
    const { upstream } = this;
    // What an upstream tells one 2025-era client is not for the others.
    const own = upstream && era === 'legacy';
    return new ConnectionServer(this, this.capabilities, {
      running,
      bus: own ? new InMemoryServerEventBus(error => this.report(error)) : this.bus,
      ...(own && { upstream }),
      maxSubscriptions: this.options.sessions.maxSubscriptions,
      forwardAll: era === 'modern',
    });
  }

  /** Remembers the HTTP exchange behind a web `Request`, which is all that the SDK hands on. */
  bindHttp(
    request: Request,
    { request: platformRequest, response, rawRequest }: BoundHttp,
    assertMirrored: HttpExchange['assertMirrored'],
  ): void {
    const { headers } = rawRequest;
    this.https.set(request, { request: platformRequest, response, headers, assertMirrored });
  }

  httpOf(request: Request | undefined): HttpExchange | undefined {
    return request && this.https.get(request);
  }

  report(error: Error): void {
    this.logger.warn(error.message.slice(0, MAX_LOGGED));
  }

  /** Reports how many calls a shutdown has ended, if it has ended any. */
  reportEnded(count: number): void {
    if (count === 0) return;
    const { shutdownTimeoutMs } = this.options;
    this.logger.warn(
      `Calls that did not finish within ${shutdownTimeoutMs} ms ("shutdownTimeoutMs") of the shutdown were answered with an error: ${count}`,
    );
  }

  /** A client's mistake, answered already: of interest only while looking for one. */
  reportRejected(error: Error): void {
    this.logger.debug(error.message.slice(0, MAX_LOGGED));
  }

  /** Lets what a client is told meanwhile pass the chain, where there is one. */
  private tell(
    method: string,
    exchange: Exchange,
    work: (exchange: Exchange) => Promise<Result>,
  ): Promise<Result> {
    return this.boundary ? this.boundary.tell(method, exchange, work) : work(exchange);
  }

  private async dispatchUngoverned(
    method: DispatchedMethod,
    params: Params,
    exchange: Exchange,
  ): Promise<Result> {
    const mirrored = this.assertMirrored(method, params, exchange);
    if (mirrored) await mirrored;
    return this.answering.dispatch(method, params, exchange);
  }

  private get capabilities(): ServerCapabilities {
    const { capabilities } = this.upstream?.description ?? this.catalog;
    const capability = this.interceptorServer?.capability;
    return capability
      ? {
          ...capabilities,
          extensions: { ...capabilities.extensions, [INTERCEPTORS_EXTENSION]: capability },
        }
      : capabilities;
  }

  private compileCatalog(): Catalog {
    const catalog = new Catalog(this.table.enabled(), {
      pageSize: this.options.pageSize,
      declare: this.declared,
    });
    // Clients rely on what they were told: a list that has become empty is answered as an empty list.
    for (const kind of ['tools', 'prompts', 'resources', 'completions'] as const) {
      if (catalog.capabilities[kind]) this.declared[kind] = true;
    }
    return catalog;
  }
}

const GATEWAY_REMEDY = 'it offers what its backend does, so give the handler another server with "server"';

/** How much of an error that a client may have worded goes to the log. */
const MAX_LOGGED = 500;

interface BoundHttp {
  readonly request: object;
  readonly response: object;
  readonly rawRequest: { readonly headers: HttpExchange['headers'] };
}

/** A 2025-era client without a session has no stream on which it could be told of changes. */
function withoutChanges({ tools, prompts, resources, ...rest }: ServerCapabilities): ServerCapabilities {
  return {
    ...rest,
    ...(tools && { tools: {} }),
    ...(prompts && { prompts: {} }),
    ...(resources && { resources: {} }),
  };
}
