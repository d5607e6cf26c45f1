import type { Client, LoggingMessageNotification, ClientCapabilities } from '@modelcontextprotocol/client';
import { Subject } from 'rxjs';
import { Logger } from '@nestjs/common';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { ChainSource } from '../interceptors/chain-source.js';
import type { ChainReport } from '../interceptors/reports.js';
import { reasonOf } from '../schema/schema.error.js';
import {
  ClientBoundary,
  type ClientBoundaryOptions,
  type InterceptedInputHandler,
} from './client-boundary.js';
import { whereOf, type ResolvedClientOptions, knownToolsOf } from './client-options.js';
import { Connection } from '../connection/connection.js';
import { observed } from '../connection/header-parameter-client.js';
import type { FoundInputHandler } from './input-handlers.js';
import { INPUT_METHODS, INPUT_RULES } from '../protocol/methods.js';
import { omit } from '../options/option-schema.js';
import { ToolDefinitions } from '../connection/tool-definitions.js';
import type { Observer } from '../protocol/traffic.js';

class ServerEvents {
  readonly opened = new Subject<void>();
  readonly toolsChanged = new Subject<void>();
  readonly promptsChanged = new Subject<void>();
  readonly resourcesChanged = new Subject<void>();
  readonly resourceUpdated = new Subject<{ readonly uri: string }>();
  readonly logged = new Subject<LoggingMessageNotification['params']>();

  attach(client: Client): void {
    client.setNotificationHandler('notifications/tools/list_changed', () => this.toolsChanged.next());
    client.setNotificationHandler('notifications/prompts/list_changed', () => this.promptsChanged.next());
    client.setNotificationHandler('notifications/resources/list_changed', () => this.resourcesChanged.next());
    client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) =>
      this.resourceUpdated.next({ uri }),
    );
    client.setNotificationHandler('notifications/message', ({ params }) => this.logged.next(params));
  }

  close(): void {
    for (const subject of Object.values(this) as Subject<never>[]) subject.complete();
  }
}

interface ClientParts {
  readonly chain: ChainSource;
  readonly handlers: readonly FoundInputHandler[];
  readonly onReport: (report: ChainReport) => void;
  readonly observer: (url: string | undefined) => Observer | undefined;
  /** Observes the requests of the server. */
  readonly asked: (url: string | undefined) => Observer | undefined;
}

/** Bounds an error in the log: a server may have worded it. */
const MAX_LOGGED = 500;

/** The inner parts of a client. It can be injected before its options and its chain are known. */
export class ClientWiring implements ClientBoundaryOptions {
  readonly events = new ServerEvents();
  readonly boundary: ClientBoundary;
  readonly tools: ToolDefinitions;
  private readonly logger: Logger;
  private parts?: ClientParts;
  private opened?: Connection;
  options?: ResolvedClientOptions;
  protocolVersion?: string;

  constructor(readonly name: string) {
    this.boundary = new ClientBoundary(this);
    this.logger = new Logger(`McpClient(${name})`);
    this.tools = new ToolDefinitions(this.warn);
  }

  get timeoutMs(): number | undefined {
    return this.options?.interceptors.timeoutMs;
  }

  private readonly warn = (message: string): void => this.logger.warn(message);

  readonly onReport = (report: ChainReport): void => this.parts?.onReport(report);

  readonly chain: ChainSource = { current: (...asked) => this.ready().chain.current(...asked) };

  /** @throws McpBootstrapError for a second client of this name, or for known tools that cannot be read */
  configure(options: ResolvedClientOptions): void {
    if (this.options) {
      throw new McpBootstrapError(
        whereOf(this.name),
        'another client has this name; give each client a separate "name"',
      );
    }
    try {
      this.tools.add(knownToolsOf(options.knownTools ?? []));
    } catch (error) {
      throw new McpBootstrapError(whereOf(this.name), `"knownTools": ${reasonOf(error)}`);
    }
    this.options = options;
  }

  /** @throws McpBootstrapError for a capability that no handler answers */
  start(parts: ClientParts): void {
    const { auth, tasks } = this.options!;
    const connection = omit(this.options!, 'auth', 'interceptors', 'knownTools', 'tasks');
    const capabilities = this.capabilitiesWith(parts.handlers);
    this.parts = parts;
    this.opened = new Connection(
      this.name,
      { ...connection, capabilities },
      {
        auth,
        tools: this.tools,
        warn: this.warn,
        tasks,
        observer: parts.observer,
        onClient: client => {
          client.onerror = error => this.logger.debug(error.message.slice(0, MAX_LOGGED));
          this.events.attach(client);
          const asked = parts.asked(connection.url?.toString());
          for (const { method, handler } of parts.handlers) {
            const protocolVersion = () => client.getNegotiatedProtocolVersion();
            const answer = this.boundary.answering(method, handler, protocolVersion);
            client.setRequestHandler(method, (asked ? observedBy(asked, client, answer) : answer) as never);
          }
        },
        onOpen: client => {
          this.protocolVersion = client.getNegotiatedProtocolVersion();
          this.events.opened.next();
        },
      },
    );
  }

  /** Reports a request that failed before it got a connection. */
  unsent(method: string, params: Record<string, unknown>): void {
    const observer = this.parts?.observer(this.options?.url?.toString());
    observer?.begin({ method, params }).end({ error: { code: 'CONNECTION_FAILED' } });
  }

  /** @throws McpBootstrapError while the application is still put together */
  connection(): Connection {
    this.ready();
    return this.opened!;
  }

  async close(): Promise<void> {
    await this.opened?.close();
    this.events.close();
  }

  private ready(): ClientParts {
    if (this.parts) return this.parts;
    throw new McpBootstrapError(
      `The MCP client "${this.name}"`,
      'it cannot be used while the application is put together, for its interceptors are not known yet; use it from onModuleInit on',
    );
  }

  private capabilitiesWith(handlers: readonly FoundInputHandler[]): ClientCapabilities {
    const capabilities: ClientCapabilities = { ...this.options!.capabilities };
    for (const method of INPUT_METHODS) {
      const { capability: name, value } = INPUT_RULES[method];
      if (handlers.some(one => one.method === method)) capabilities[name] ??= value;
      else if (capabilities[name] !== undefined) {
        throw new McpBootstrapError(
          whereOf(this.name),
          `its "capabilities" promise "${name}", but nothing answers ${method}; add a handler, or take "${name}" away`,
        );
      }
    }
    return capabilities;
  }
}

/** Observes the requests of a 2025 server. A 2026 server sends them as part of a result and not as requests. */
const observedBy =
  (observer: Observer, client: Client, answer: InterceptedInputHandler): InterceptedInputHandler =>
  (request, context) => {
    if (client.getProtocolEra() === 'modern') return answer(request, context);
    const { method, params } = request;
    const { id: requestId, signal } = context.mcpReq;
    const seen = observer.begin({
      method,
      params,
      meta: params?._meta,
      requestId,
      era: 'legacy',
      protocolVersion: client.getNegotiatedProtocolVersion(),
      sessionId: client.transport?.sessionId,
    });
    return observed(seen, () => answer(request, context), signal);
  };
