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
import { Boundary } from '../interceptors/boundary.js';
import type { Chain } from '../interceptors/chain/chain.js';
import type { ChainEntry } from '../interceptors/chain/entry.js';
import { INTERCEPTORS_EXTENSION, InterceptorServer } from '../interceptors/interceptor-server.js';
import type { InterceptorReports } from '../interceptors/reports.js';
import type { ResolvedOptions } from '../mcp.module-options.js';
import { notifierOver, type ChangeNotifier } from './changes.js';
import { ConnectionServer } from './connection-server.js';
import { Dispatcher, type DispatchedMethod, type Params } from './dispatcher.js';
import { ExchangeServer, type ExchangeHost } from './exchange-server.js';
import type { Era, Exchange, HttpExchange } from './exchange.js';
import { HandlerTable } from './handler-table.js';
import { listingsOf } from './listings.js';

/** One server of the application: its options, its catalogue, and what every exchange with it shares. */
export class McpServerHost implements ExchangeHost {
  readonly info: Implementation;
  readonly sdkOptions: McpServerOptions;
  readonly bus: ServerEventBus;
  readonly table = new HandlerTable();
  readonly changes: ChangeNotifier;
  private readonly dispatcher: Dispatcher;
  private boundary?: Boundary;
  private interceptorServer?: InterceptorServer;
  /** The paths of the HTTP endpoint, once the application has started. */
  paths: readonly string[] = [];
  /** The interceptors that govern this server, once the application has started. */
  chain?: Chain;
  private readonly logger: Logger;
  private readonly https = new WeakMap<Request, HttpExchange>();
  private current?: Catalog;
  private readonly declared: DeclaredCapabilities;

  constructor(readonly options: ResolvedOptions) {
    const { name, version, title, icons, websiteUrl, instructions, cache } = options;
    this.logger = new Logger(`McpModule(${name})`);
    this.info = {
      name,
      version,
      ...(title !== undefined && { title }),
      ...(icons && { icons }),
      ...(websiteUrl !== undefined && { websiteUrl }),
    };
    this.sdkOptions = {
      ...(instructions !== undefined && { instructions }),
      cacheHints: cache,
      // Shared, because the SDK would otherwise make one for every exchange.
      jsonSchemaValidator: new AjvJsonSchemaValidator(),
    };
    this.declared = { ...options.capabilities };
    this.bus = new InMemoryServerEventBus(error => this.report(error));
    this.changes = notifierOver(this.bus);
    this.dispatcher = new Dispatcher(() => this.catalog, this.changes);
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
    return this.boundary
      ? this.boundary.dispatch(method, params, exchange)
      : this.dispatcher.dispatch(method, params, exchange);
  }

  /** Puts a chain around this server's traffic and serves its interceptors to others, as the options say. */
  govern(chain: Chain, entries: readonly ChainEntry[], reports: InterceptorReports): void {
    const { name, interceptors: settings, pageSize } = this.options;
    this.chain = chain;
    if (settings.expose) {
      this.interceptorServer = new InterceptorServer(entries, pageSize, message => this.logger.warn(message));
    }
    if (!settings.apply || entries.length === 0) return;
    const dispatch = this.dispatcher.dispatch.bind(this.dispatcher);
    const listings = listingsOf(() => this.catalog);
    this.boundary = new Boundary({ server: name, chain, settings, reports, listings, dispatch });
  }

  /**
   * Lets guards and interceptors decide on a subscription that the SDK's entries serve by themselves.
   * @throws McpException where it was refused
   */
  async admitSubscription(uri: string, exchange: Exchange): Promise<void> {
    await this.boundary?.admitSubscription(uri, exchange);
    await this.dispatcher.admitSubscription(uri, exchange);
  }

  /** Methods beside the protocol's own. */
  get extensionMethods(): InterceptorServer['methods'] {
    return this.interceptorServer?.methods ?? {};
  }

  /** A server for one HTTP exchange. */
  forExchange(era: Era): ExchangeServer {
    const { capabilities } = this;
    return new ExchangeServer(this, era === 'modern' ? capabilities : withoutChanges(capabilities));
  }

  /** A server for a connection that lasts: a session, or stdio. */
  forConnection(era: Era): ConnectionServer {
    return new ConnectionServer(this, this.capabilities, {
      bus: this.bus,
      maxSubscriptions: this.options.sessions.maxSubscriptions,
      forwardAll: era === 'modern',
    });
  }

  /** Remembers the HTTP exchange behind a web `Request`, which is all that the SDK hands on. */
  bindHttp(request: Request, { request: platformRequest, response, rawRequest }: BoundHttp): void {
    this.https.set(request, { request: platformRequest, response, headers: rawRequest.headers });
  }

  httpOf(request: Request | undefined): HttpExchange | undefined {
    return request && this.https.get(request);
  }

  report(error: Error): void {
    this.logger.warn(error.message.slice(0, MAX_LOGGED));
  }

  /** A client's mistake, answered already: of interest only while looking for one. */
  reportRejected(error: Error): void {
    this.logger.debug(error.message.slice(0, MAX_LOGGED));
  }

  private get capabilities(): ServerCapabilities {
    const { capabilities } = this.catalog;
    const capability = this.interceptorServer?.capability;
    return capability
      ? { ...capabilities, extensions: { [INTERCEPTORS_EXTENSION]: capability } }
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
