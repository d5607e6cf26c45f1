import { Logger } from '@nestjs/common';
import {
  InMemoryServerEventBus,
  type Implementation,
  type McpServerOptions,
  type ServerCapabilities,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { Catalog, type DeclaredCapabilities } from '../catalog/catalog.js';
import type { ResolvedOptions } from '../mcp.module-options.js';
import { notifierOver, type ChangeNotifier } from './changes.js';
import { ConnectionServer } from './connection-server.js';
import { Dispatcher } from './dispatcher.js';
import { ExchangeServer, type ExchangeHost } from './exchange-server.js';
import type { Era, HttpExchange } from './exchange.js';
import { HandlerTable } from './handler-table.js';

/** One server of the application: its options, its catalogue, and what every exchange with it shares. */
export class McpServerHost implements ExchangeHost {
  readonly info: Implementation;
  readonly sdkOptions: McpServerOptions;
  readonly bus: ServerEventBus;
  readonly table = new HandlerTable();
  readonly changes: ChangeNotifier;
  readonly dispatcher: Dispatcher;
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

  /** A server for one HTTP exchange. */
  forExchange(era: Era): ExchangeServer {
    const { capabilities } = this.catalog;
    return new ExchangeServer(this, era === 'modern' ? capabilities : withoutChanges(capabilities));
  }

  /** A server for a connection that lasts: a session, or stdio. */
  forConnection(era: Era): ConnectionServer {
    return new ConnectionServer(this, this.catalog.capabilities, {
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
    this.logger.warn(error.message);
  }

  /** A client's mistake, answered already: of interest only while looking for one. */
  reportRejected(error: Error): void {
    this.logger.debug(error.message);
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
