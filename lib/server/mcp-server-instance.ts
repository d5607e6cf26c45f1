import { Logger } from '@nestjs/common';
import {
  InMemoryServerEventBus,
  type Implementation,
  type McpServerOptions,
  type Result,
  type ServerCapabilities,
  type ServerEventBus,
} from '@modelcontextprotocol/server';
import type { Catalog } from '../catalog/catalog.js';
import type { ResolvedOptions } from './server-options.js';
import { Rounds } from '../elicitation/rounds.js';
import type { AskClient, Era, McpCall, ReplyChannel } from '../protocol/mcp-call.js';
import { METHODS } from '../protocol/methods.js';
import { UnknownMethodError } from '../protocol/unknown.js';
import type { Answer } from '../protocol/answer.js';
import type { Observer, Traffic } from '../protocol/traffic.js';
import { notifierOver, type ChangeNotifier } from '../protocol/changes.js';
import type { Admission, NamedRequest, Permissions, Requirements } from '../protocol/permissions.js';
import { CatalogHandlers } from './catalog-handlers.js';
import type { OwnMethod, ServerExtension } from '../protocol/server-extension.js';
import type { Handlers, ToolSchemas } from './handlers.js';
import { HandlerRunner } from './handler-runner.js';
import type { HandlerTable } from './handler-table.js';
import type { Visibility } from './visibility.js';
import { headerCheck, type HeaderCheck } from '../headers/header-check.js';
import { composeListening, composePipeline, type PipelineParts } from './pipeline.js';
import { infoOf, sdkOptionsOf } from './sdk-settings.js';
import { SharedEventBus } from './shared-event-bus.js';
import type { CallerLimit } from '../protocol/caller-limit.js';
import { type RunningCall, RunningCalls } from '../protocol/running-calls.js';

/** What a server is built from. */
export interface McpServerParts {
  readonly options: ResolvedOptions;
  /** The handlers of the application. */
  readonly table: HandlerTable;
  /** Answers instead of the application's handlers. */
  readonly remote?: Handlers;
  /** The paths of the HTTP endpoint; empty without one. */
  readonly paths: readonly string[];
  readonly extensions: readonly ServerExtension[];
  readonly traffic: Traffic;
}

/** One server of the application: its options, its handlers and the state that all its connections share. */
export class McpServerInstance {
  readonly options: ResolvedOptions;
  private readonly ownInfo: Implementation;
  private readonly ownOptions: McpServerOptions;
  private readonly logger: Logger;
  readonly headers: HeaderCheck;
  private readonly extensions: readonly ServerExtension[];
  private readonly pipelines: Readonly<Record<Era, ReadonlyMap<string, Answer>>>;
  /** All handlers of the application, enabled and disabled. */
  readonly table: HandlerTable;
  /** Decides on a `subscriptions/listen` (2026-07-28). The SDK keeps the stream. */
  readonly listening: Answer;
  readonly bus: ServerEventBus;
  private readonly sharedBus?: SharedEventBus;
  /** Answers the methods of the server. */
  readonly handlers: Handlers;
  private readonly own: CatalogHandlers;
  /** Runs handlers of extensions as those of the catalogue. */
  readonly runner: HandlerRunner;
  /** The methods of extensions. */
  readonly ownMethods: ReadonlyMap<string, OwnMethod>;
  /** The values of `resultType` that extensions add. */
  readonly resultTypes: ReadonlySet<unknown>;
  private required?: { readonly of: object; readonly all: ReturnType<Requirements['requirements']> };
  readonly changes: ChangeNotifier;
  readonly rounds: Rounds;
  /** The calls over HTTP. */
  readonly running: RunningCalls;
  /** Decides who sees and may use the handlers; undefined if everybody may. */
  readonly permissions?: Permissions;
  /** Decides about HTTP requests; undefined if all are served. */
  readonly admission?: Admission;
  /** The paths of the HTTP endpoint; empty without one. */
  readonly paths: readonly string[];
  /** Observes incoming requests. `asking` observes requests to clients. Both are undefined without listeners. */
  readonly observer?: Observer;
  readonly asking?: Observer;
  private readonly traffic?: Traffic;
  private isReady = false;
  /** The limits of items that clients hold open, by a name for operators. */
  readonly limits: Record<string, CallerLimit>;
  /** Further numbers of its transports, by a name for operators. */
  readonly gauges: Record<string, () => number> = {};
  /** The number of refused HTTP requests, by status. `limits` counts refusals past a cap. */
  readonly refusals = new Map<number, number>();

  constructor({ options, table, remote, paths, extensions, traffic }: McpServerParts) {
    const { name } = options;
    this.options = options;
    this.table = table;
    this.paths = paths;
    this.extensions = extensions;
    if (traffic.isObserved) this.traffic = traffic;
    this.logger = new Logger(`McpModule(${name})`);
    this.ownInfo = infoOf(options);
    this.ownOptions = sdkOptionsOf(options);
    this.running = this.newRunningCalls();
    const bus = new InMemoryServerEventBus(error => this.report(error));
    // A gateway does not need the bus, because each of its nodes receives changes from the backends.
    if (options.bus && !remote?.isRemote) {
      this.sharedBus = new SharedEventBus(bus, options.bus, name, error => this.report(error));
    }
    this.bus = this.sharedBus ?? bus;
    this.changes = notifierOver(this.bus);
    this.rounds = new Rounds(name, options.mrtr, this.traffic);
    const { limit: calls, hanging } = this.running;
    this.limits = { calls, hanging, questions: this.rounds.suspensions.limit };
    this.permissions = extensions.find(one => one.permissions)?.permissions;
    this.admission = extensions.find(one => one.admission)?.admission;
    const { changes, rounds, permissions } = this;
    this.runner = new HandlerRunner(changes, rounds);
    const { runner } = this;
    this.ownMethods = new Map(extensions.flatMap(({ methods = {} }) => Object.entries(methods)));
    this.resultTypes = new Set(extensions.flatMap(({ resultTypes = [] }) => resultTypes));
    const further = Array.from(this.ownMethods.values(), ({ requirement }) => requirement);
    this.own = new CatalogHandlers({ options, table, changes, rounds, runner, permissions, further });
    this.handlers = remote ?? this.own;
    this.headers = headerCheck(this.handlers.headerParams);
    const { handlers, headers } = this;
    this.observer = this.traffic?.at({
      side: 'server',
      name,
      isOwnMethod: method => this.isOwn(method),
      ...(handlers.isKnown && { isKnown: (kind, key) => handlers.isKnown!(kind, key) }),
      ...(handlers.isListed && { isListed: (kind, key) => handlers.isListed!(kind, key) }),
    });
    this.asking = this.traffic?.at({ side: 'client', name });
    for (const extension of extensions) extension.attach?.(this);
    const parts: PipelineParts = { handlers, rounds, headers, extensions };
    this.pipelines = {
      legacy: composePipeline(parts, 'legacy'),
      modern: composePipeline(parts, 'modern'),
    };
    this.listening = composeListening(parts);
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
    const { capabilities } = this.handlers.description;
    const own = this.extensions.flatMap(one => (one.id ? [[one.id, one.settings?.() ?? {}]] : []));
    if (own.length === 0) return capabilities;
    return {
      ...capabilities,
      extensions: {
        ...capabilities.extensions,
        ...Object.fromEntries(own),
      } as ServerCapabilities['extensions'],
    };
  }

  /** Whether the transports are open. Before, and during a shutdown, the server is not ready. */
  get isOpen(): boolean {
    return this.isReady;
  }

  /** Starts to receive changes from other nodes and from other servers. */
  async open(): Promise<void> {
    await this.sharedBus?.open();
    this.handlers.open?.(this.changes, this.traffic);
  }

  /** Called when the transports are open. */
  opened(): void {
    this.isReady = true;
  }

  /** Called when the transports begin to close. */
  closing(): void {
    this.isReady = false;
  }

  /** Waits up to `shutdownTimeoutMs` for the work of extensions that outlasts its calls, then ends it. */
  async closeExtensions(): Promise<void> {
    await Promise.all(this.extensions.map(async one => one.close?.(this.options.shutdownTimeoutMs)));
  }

  /** Waits up to `timeoutMs` milliseconds for handlers that outlast their calls. */
  async close(timeoutMs: number): Promise<void> {
    await Promise.all([this.handlers.close?.(), this.rounds.ended(timeoutMs)]);
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

  /** The methods that the pipeline answers with the current capabilities. */
  methodsOf(era: Era): string[] {
    return [...this.pipelines[era].keys()].filter(method => this.serves(method, era));
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

  /**
   * Answers a call.
   * @throws McpException, or the SDK's `ProtocolError`: the JSON-RPC error to answer with
   */
  serve(call: McpCall): Promise<Result> {
    const answer = this.pipelines[call.era].get(call.method);
    if (!answer) throw new UnknownMethodError();
    return answer(call, call.params);
  }

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

  /** Sends a request to a client outside of its calls, through the extensions. */
  ask(call: McpCall, send: AskClient, ...asked: Parameters<AskClient>): Promise<Result> {
    const through = this.extensions.reduceRight<AskClient>(
      (next, one) => (one.ask ? (...own) => one.ask!(call, next, ...own) : next),
      send,
    );
    return through(...asked);
  }

  /** Sends notifications to a client outside of its calls, through the extensions. */
  notifier(callOf: () => McpCall, send: ReplyChannel['notify']): ReplyChannel['notify'] {
    return this.extensions.reduceRight((next, one) => one.notifier?.(callOf, next) ?? next, send);
  }

  /**
   * Calls the listener when an extension has a notification for all lasting connections.
   * @returns a function that removes the listener
   */
  onNotification(listener: (method: string) => void): () => void {
    const removals = this.extensions.map(one => one.onNotification?.(listener));
    return () => {
      for (const remove of removals) remove?.();
    };
  }

  /** What the extensions offer, for the log of the start. */
  get offered(): string[] {
    return this.extensions.flatMap(({ offered }) => offered ?? []);
  }

  /** The lines of the extensions for the log of the start. */
  get startLines(): string[] {
    return this.extensions.flatMap(one => one.startLines?.() ?? []);
  }

  report(error: Error): void {
    this.logger.warn(error.message.slice(0, MAX_LOGGED));
  }

  /** Creates the running calls of a transport. */
  newRunningCalls(): RunningCalls {
    const { calls } = this.options;
    const warn = (message: string) => this.logger.warn(message);
    return new RunningCalls(calls, {
      overdue: late =>
        warn(
          `Calls that did not finish within ${calls.timeoutMs} ms ("calls.timeoutMs") were answered with an error: ${this.handlersOf(late)}; report progress in a long handler, or raise the option`,
        ),
      hanging: late =>
        warn(
          `Handlers still run ${calls.timeoutMs} ms after their calls have ended: ${this.handlersOf(late)}; end them when "ctx.signal" aborts. The server refuses new calls past "calls.maxHanging" of them`,
        ),
    });
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
