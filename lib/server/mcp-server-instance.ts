import { randomBytes } from 'node:crypto';
import { Logger } from '@nestjs/common';
import {
  InMemoryServerEventBus,
  type Implementation,
  type McpServerOptions,
  type ServerCapabilities,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import type { Catalog } from '../catalog/catalog.js';
import type { ResolvedOptions } from './server-options.js';
import { Rounds } from '../elicitation/rounds.js';
import type { Era, McpCall } from '../protocol/mcp-call.js';
import { LASTING, METHODS } from '../protocol/methods.js';
import type { OpenItems } from '../protocol/open-items.js';
import { UnknownMethodError } from '../protocol/unknown.js';
import type { Observer } from '../protocol/traffic.js';
import { notifierOver, type ChangeNotifier } from '../protocol/changes.js';
import type { NamedRequest, Requirements } from '../protocol/permissions.js';
import { CatalogHandlers } from './catalog-handlers.js';
import type { ServerExtension } from '../protocol/server-extension.js';
import { Extensions } from './extensions.js';
import type { Handlers, ToolSchemas } from '../protocol/handlers.js';
import { HandlerRunner } from './handler-runner.js';
import type { HandlerTable } from './handler-table.js';
import type { Visibility } from './visibility.js';
import { headerCheck, type HeaderCheck } from '../headers/header-check.js';
import { composePipeline, type PipelineParts, type Serve } from './pipeline.js';
import { infoOf, sdkOptionsOf } from './sdk-settings.js';
import { SharedEventBus } from './shared-event-bus.js';
import type { CallerLimit, Counting } from '../protocol/caller-limit.js';
import { type RunningCall, RunningCalls } from '../protocol/running-calls.js';

/** What a server is built from. */
export interface McpServerParts {
  readonly options: ResolvedOptions;
  /** The handlers of the application. */
  readonly table: HandlerTable;
  /** The paths of the HTTP endpoint; empty without one. */
  readonly paths: readonly string[];
  readonly extensions: readonly ServerExtension[];
}

/** One server of the application: its options, its handlers and the state that all its connections share. */
export class McpServerInstance {
  readonly options: ResolvedOptions;
  /** The paths of the HTTP endpoint; empty without one. */
  readonly paths: readonly string[];
  /** All handlers of the application, enabled and disabled. */
  readonly table: HandlerTable;
  readonly extensions: Extensions;
  /** The methods of extensions. */
  readonly ownMethods: Extensions['methods'];
  /** Decides who sees and may use the handlers; undefined if everybody may. */
  readonly permissions: Extensions['permissions'];
  /** Decides about HTTP requests; undefined if all are served. */
  readonly admission: Extensions['admission'];

  readonly bus: ServerEventBus;
  /** The name of this node among the nodes of the server. */
  readonly node = randomBytes(4).toString('hex');
  private readonly sharedBus?: SharedEventBus;
  readonly changes: ChangeNotifier;
  /** The calls over HTTP. */
  readonly running: RunningCalls;
  readonly rounds: Rounds;
  /** Runs handlers of extensions as those of the catalogue. */
  readonly runner: HandlerRunner;

  /** Answers the methods of the server. */
  readonly handlers: Handlers;
  private readonly own: CatalogHandlers;
  readonly headers: HeaderCheck;
  private readonly pipelines: Readonly<Record<Era, ReadonlyMap<string, Serve>>>;

  /** Observes incoming requests. `asking` observes requests to clients. Both are undefined if nobody observes. */
  readonly observer?: Observer;
  readonly asking?: Observer;
  /** The limits of items that clients hold open, by a name for operators. */
  readonly limits: Record<string, CallerLimit>;
  /** Further numbers of its transports, by a name for operators. */
  readonly gauges: Record<string, () => number> = {};
  /** What clients hold open over HTTP, the oldest first. */
  readonly openItems: OpenItems = {};
  /** The number of refused HTTP requests, by status. `limits` counts refusals past a cap. */
  readonly refusals = new Map<number, number>();

  private readonly ownInfo: Implementation;
  private readonly ownOptions: McpServerOptions;
  private readonly logger: Logger;
  private required?: { readonly of: object; readonly all: ReturnType<Requirements['requirements']> };
  private isReady = false;

  constructor({ options, table, paths, extensions }: McpServerParts) {
    const { name } = options;
    this.options = options;
    this.paths = paths;
    this.table = table;
    this.extensions = new Extensions(extensions);
    const { permissions, admission, methods, traffic, handlers: remote } = this.extensions;
    this.permissions = permissions;
    this.admission = admission;
    this.ownMethods = methods;
    this.logger = new Logger(`McpModule(${name})`);
    this.ownInfo = infoOf(options);
    this.ownOptions = sdkOptionsOf(options);

    const local = new InMemoryServerEventBus(error => this.report(error));
    // A gateway does not need the bus, because each of its nodes receives changes from the backends.
    if (options.bus && !remote?.isRemote) {
      this.sharedBus = new SharedEventBus(this.node, local, options.bus, name, error => this.report(error));
    }
    this.bus = this.sharedBus ?? local;
    const changes = (this.changes = notifierOver(this.bus));
    this.running = this.newRunningCalls(options.counting);
    const rounds = (this.rounds = new Rounds(name, options.mrtr, traffic));
    const runner = (this.runner = new HandlerRunner(changes, rounds));
    this.limits = {
      calls: this.running.limit,
      hanging: this.running.hanging,
      inputRequests: rounds.pendingRequests.limit,
    };

    const further = Array.from(methods.values(), ({ requirement }) => requirement);
    this.own = new CatalogHandlers({ options, table, changes, rounds, runner, permissions, further });
    const handlers: Handlers = (this.handlers = remote ?? this.own);
    const headers = (this.headers = headerCheck(handlers.headerParams));
    this.asking = traffic?.at({ side: 'client', name });
    const observer = (this.observer = traffic?.at({
      side: 'server',
      name,
      isOwnMethod: method => this.isOwn(method),
      isKnown: handlers.isKnown?.bind(handlers),
      isListed: handlers.isListed?.bind(handlers),
    }));

    // Its members are set now, and the stages that the pipelines collect may use them.
    for (const extension of extensions) extension.attach?.(this);
    const parts: PipelineParts = { handlers, rounds, headers, extensions, bus: this.bus, observer };
    this.pipelines = { legacy: composePipeline(parts, 'legacy'), modern: composePipeline(parts, 'modern') };
  }

  get info(): Implementation {
    return this.handlers.description.info ?? this.ownInfo;
  }

  get sdkOptions(): McpServerOptions {
    const { ownOptions, handlers } = this;
    const { instructions } = handlers.description;
    return instructions === undefined ? ownOptions : { instructions, ...ownOptions };
  }

  get capabilities(): ServerCapabilities {
    return this.extensions.describedIn(this.handlers.description.capabilities);
  }

  /** Whether the transports are open. Before, and during a shutdown, the server is not ready. */
  get isOpen(): boolean {
    return this.isReady;
  }

  /** Starts to receive changes from other nodes and from other servers. */
  async open(): Promise<void> {
    await this.sharedBus?.open();
    this.handlers.open?.(this.changes, this.extensions.traffic);
  }

  /** Called when the transports are open. */
  opened(): void {
    this.isReady = true;
  }

  /** Called when the transports begin to close. */
  closing(): void {
    this.isReady = false;
  }

  /** Waits up to `timeoutMs` milliseconds for handlers that outlast their calls. */
  async close(timeoutMs: number): Promise<void> {
    await Promise.all([this.handlers.close?.(), this.rounds.ended(timeoutMs)]);
    await Promise.all(Object.values(this.limits).map(limit => limit.close()));
    await this.sharedBus?.close();
  }

  /** The handlers of the application that the server offers now. A gateway has none. */
  get catalog(): Catalog {
    return this.own.catalog;
  }

  /** What a caller sees of the application's handlers. */
  get visibility(): Visibility {
    return this.own.visibility;
  }

  /** Makes the server offer the current handlers of the table. */
  publish(): void {
    this.own.publish();
  }

  /** The methods that the pipeline answers with the current capabilities, each with one reply. */
  methodsOf(era: Era): string[] {
    return [...this.pipelines[era].keys()].filter(method => this.serves(method, era) && !LASTING.has(method));
  }

  isOwn(method: string): boolean {
    return this.ownMethods.has(method);
  }

  needs(request: NamedRequest, call: McpCall | undefined): ReturnType<Requirements['needs']> {
    const own = this.ownMethods.get(request.method);
    if (!own) return this.handlers.needs(request, call);
    const isHidden = own.isHidden?.(call) ?? false;
    const needs = (hidden: boolean) => (hidden ? [] : [own.requirement]);
    return isHidden instanceof Promise ? isHidden.then(needs) : needs(isHidden);
  }

  /** The same array until the handlers change. */
  requirements(): ReturnType<Requirements['requirements']> {
    const of = this.handlers.requirements();
    if (this.required?.of !== of) {
      const own = Array.from(this.ownMethods, ([method, { where = method, requirement }]) => ({
        where,
        requirement,
      }));
      this.required = { of, all: [...of, ...own] };
    }
    return this.required.all;
  }

  /** Whether the pipeline answers a method with the current capabilities. */
  serves(method: string, era: Era): boolean {
    const { handlers } = this;
    const rule = METHODS.get(method);
    if (era === 'modern' && (rule?.isLegacy || method === SET_LEVEL)) return false;
    if (rule) return handlers.description.capabilities[rule.capability] !== undefined;
    if (!this.pipelines[era].has(method)) return false;
    return Object.hasOwn(handlers.methods, method) ? handlers.offers(method) : true;
  }

  /** Answers a call; see `Serve`. */
  readonly serve: Serve = (call, write) =>
    this.pipelines[call.era].get(call.method)?.(call, write) ?? Promise.reject(new UnknownMethodError());

  /** The output schema of a tool, as the caller sees it. */
  outputSchema(
    name: string,
    call: McpCall,
  ): ToolSchemas['outputSchema'] | Promise<ToolSchemas['outputSchema']> {
    const schemas = this.handlers.toolSchemas(name, call);
    if (!(schemas instanceof Promise)) return schemas?.outputSchema;
    // The call has already run, so its result counts even if its schema cannot be read.
    return schemas.then(
      known => known?.outputSchema,
      () => undefined,
    );
  }

  report(error: Error): void {
    this.logger.warn(error.message.slice(0, MAX_LOGGED));
  }

  /**
   * Creates the running calls of a transport.
   * @param counting for callers that other nodes may serve, too
   */
  newRunningCalls(counting?: Counting): RunningCalls {
    const { calls } = this.options;
    const warn = (message: string) => this.logger.warn(message);
    return new RunningCalls(
      calls,
      {
        overdue: late =>
          warn(
            `Calls that did not finish within ${calls.timeoutMs} ms ("calls.timeoutMs") were answered with an error: ${this.handlersOf(late)}; report progress in a long handler, or raise the option`,
          ),
        hanging: late =>
          warn(
            `Handlers still run ${calls.timeoutMs} ms after their calls have ended: ${this.handlersOf(late)}; end them when "ctx.signal" aborts. The server refuses new calls past "calls.maxHanging" of them`,
          ),
      },
      counting,
    );
  }

  /** The handlers of the calls, each with the number of its calls. */
  private handlersOf(calls: readonly RunningCall[]): string {
    const counts = new Map<string, number>();
    for (const { called } of calls) {
      const handler = called && (this.catalog.handlerOf(called)?.where ?? called.method);
      counts.set(String(handler), (counts.get(String(handler)) ?? 0) + 1);
    }
    const each = [...counts].map(([handler, count]) => `${count} of ${handler}`);
    return each.join(', ').slice(0, MAX_LOGGED);
  }

  /** Logs the number of calls that a shutdown has ended, if there are any. */
  reportEnded(count: number): void {
    if (count === 0) return;
    const { shutdownTimeoutMs } = this.options;
    this.logger.warn(
      `Calls that did not finish within ${shutdownTimeoutMs} ms ("shutdownTimeoutMs") of the shutdown were answered with an error: ${count}; raise the option if your handlers need more time`,
    );
  }

  refused(status: number): void {
    this.refusals.set(status, (this.refusals.get(status) ?? 0) + 1);
  }

  /** Logs a client's mistake that has been answered. It is at debug level, because it only helps while debugging. */
  reportRejected(error: Error): void {
    this.logger.debug(error.message.slice(0, MAX_LOGGED));
  }
}

const SET_LEVEL = 'logging/setLevel';

/** Maximum characters of an error to log, because a client may have written its text. */
const MAX_LOGGED = 500;
