import { setMaxListeners } from 'node:events';
import { Logger } from '@nestjs/common';
import type { Result, ServerCapabilities } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { Listing } from '../protocol/listings.js';
import { INTERCEPTORS_EXTENSION } from '../interceptors/protocol/types.js';
import type { ChangeNotifier } from '../protocol/changes.js';
import type { ClientChannel, McpCall, Params } from '../protocol/mcp-call.js';
import { requireUri } from '../protocol/params.js';
import type { NamedRequest } from '../protocol/permissions.js';
import type { Traffic } from '../protocol/traffic.js';
import type { NamedKind } from '../protocol/traffic-listener.js';
import { declaredIn } from '../headers/header-check.js';
import type { HeaderParam } from '../protocol/header-param.js';
import { withAnswersReceived } from '../elicitation/replay/journal.js';
import type { Answer } from '../protocol/answer.js';
import type { DependencyHealth, Handlers, ServerDescription, ToolSchemas } from '../protocol/handlers.js';
import { BackendSet } from './backend-set.js';
import { defined } from '../util/defined.js';
import { logLine } from '../util/log-line.js';
import { Backend } from './backend.js';
import { CallerStates } from './caller-states.js';
import { createdTask } from './task-fields.js';
import { ListDeadlines } from './caller-waits.js';
import { nextHop } from './loop-detection.js';
import { INTERCEPTOR_METHODS, isList, METHODS, offers, type DispatchedMethod } from '../protocol/methods.js';
import type { GatewaySettings } from './resolve-options.js';
import { NotHonoredError } from './subscriptions.js';
import { SuspendedCalls } from './suspended-calls.js';
import { TaskIds } from './task-ids.js';
import { withoutPrefix } from './target.js';
import { requirementBy } from './tool-rules.js';

const SET_LEVEL = 'logging/setLevel';

const MAX_LOGGED = 500;
/** The most problems in the log in each period, in milliseconds; the others are counted. */
const MAX_REPORTS = 20;
const REPORTS_MS = 60_000;

/** The handlers of a server that has backends instead of a catalogue. */
export class Gateway implements Handlers {
  readonly isRemote = true;
  readonly needsTokens: boolean;
  /** A backend can combine subscriptions that arrive at the same time. */
  readonly subscriptionsAtOnce = 100;
  readonly suspended: SuspendedCalls;
  readonly states: CallerStates;
  readonly taskIds: TaskIds;
  readonly deadlines: ListDeadlines;
  readonly requirementOf: NonNullable<Handlers['requirementOf']>;
  readonly channels = this;
  readonly methods: Readonly<Record<string, Answer>>;
  /** Notifies all clients that do not have a channel. */
  changes: ChangeNotifier | undefined;
  /** Observes the requests to the backends. Undefined if they are not observed. */
  traffic?: Traffic;
  readonly clients = new Set<ClientChannel>();
  private readonly rules: ReturnType<Handlers['requirements']>;
  private merged?: ServerDescription;
  private readonly backends: readonly Backend[];
  private readonly set: BackendSet;
  private readonly logger: Logger;
  private readonly reports = { until: 0, count: 0 };

  constructor(readonly settings: GatewaySettings) {
    this.logger = new Logger(`McpGateway(${settings.name})`);
    this.suspended = new SuspendedCalls(settings.limits);
    this.states = new CallerStates(settings);
    this.needsTokens = settings.backends.some(({ options }) => options.tokenFor !== undefined);
    this.taskIds = new TaskIds(settings);
    this.deadlines = new ListDeadlines(settings.limits.listTimeoutMs);
    this.requirementOf = requirementBy(settings.toolScopes ?? {});
    const rules = Object.entries(settings.toolScopes ?? {});
    this.rules = [
      ...rules.map(([rule, scopes]) => ({
        where: `"toolScopes.${rule}"`,
        requirement: { scopes, anonymous: false },
      })),
      { where: 'an item without a rule' },
    ];
    this.backends = settings.backends.map(({ prefix, options }) => new Backend(prefix, options, this));
    this.set = new BackendSet(this.backends, this.deadlines, settings.name);
    this.methods = {
      [SET_LEVEL]: (call, params) => this.setLevel(params, call),
      ...(settings.passthrough && this.forwarded()),
    };
  }

  needs({ method, params = {} }: NamedRequest): ReturnType<Handlers['needs']> {
    if (method === 'tools/call') return [this.requirementOf('tool', String(params['name']))];
    const isNaming = METHODS.get(method)?.names !== undefined || INTERCEPTOR_METHODS.includes(method);
    return isNaming ? [undefined] : [];
  }

  requirements(): ReturnType<Handlers['requirements']> {
    return this.rules;
  }

  get description(): ServerDescription {
    return (this.merged ??= this.merge());
  }

  /** A backend has another description. */
  described(): void {
    this.merged = undefined;
  }

  private merge(): ServerDescription {
    const known = this.backends.flatMap(({ prefix, description }) =>
      description ? [{ prefix, ...description }] : [],
    );
    const instructions = known.flatMap(({ prefix, instructions: text }) =>
      text === undefined ? [] : [prefix === undefined ? text : `${prefix}: ${text}`],
    );
    const { showsBackend, passthrough } = this.settings;
    return {
      ...(showsBackend && { info: known[0]?.info }),
      ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
      capabilities: merge(known.map(({ capabilities }) => mirrored(capabilities, passthrough))),
    };
  }

  offers(method: string): boolean {
    const { capabilities } = this.description;
    return method === SET_LEVEL ? capabilities.logging !== undefined : capabilities.extensions !== undefined;
  }

  get hasTasks(): boolean {
    return this.backends.some(backend => backend.hasTasks);
  }

  backendOf(prefix: string | undefined): Backend | undefined {
    return this.backends.find(backend => backend.prefix === prefix);
  }

  isListed(kind: NamedKind, name: string): boolean {
    return this.backends.some(({ prefix, names }) => {
      const own = withoutPrefix(prefix, name);
      return own !== undefined && names.has(kind, own);
    });
  }

  open(changes: ChangeNotifier, traffic: Traffic | undefined): void {
    this.changes = changes;
    this.traffic = traffic;
    this.states.traffic = traffic;
  }

  health(signal: AbortSignal): Promise<readonly DependencyHealth[]> {
    setMaxListeners(0, signal);
    return Promise.all(
      this.backends.map(async backend => ({ name: backend.name, isUp: await backend.isUp(signal) })),
    );
  }

  async close(): Promise<void> {
    this.suspended.close();
    await Promise.all(this.backends.map(backend => backend.close()));
  }

  async prepare(exchange: McpCall): Promise<void> {
    await this.via(exchange, () => this.describe(exchange));
  }

  answer(method: DispatchedMethod): Answer {
    // Only the backend knows its own input requests, so their answers are not checked here.
    return async (call, params) =>
      this.dispatch(method, params, call.receive ? await withAnswersReceived(call) : call);
  }

  private dispatch(method: DispatchedMethod, params: Params, exchange: McpCall): Promise<Result> {
    return this.via(exchange, async () => {
      if (isList(method)) {
        const page = await this.set.list(method, params, exchange);
        if (method === 'tools/list') for (const backend of this.backends) backend.lists.relist(exchange);
        return page;
      }
      const { backend, params: own } = await this.set.route(method, params, exchange);
      if (method === 'resources/subscribe') return this.subscribe(backend, requireUri(params), exchange);
      if (method === 'resources/unsubscribe') {
        await exchange.subscriptions?.delete(requireUri(params));
        backend.unsubscribe(requireUri(params), exchange);
        return {};
      }
      const result = await backend.request(method, own, exchange);
      if (result['resultType'] !== 'task') return result;
      const [id, tool] = [result['taskId'] as string, params['name'] as string];
      const taskId = await this.taskIds.seal({ backend: backend.prefix, id, tool }, exchange);
      return createdTask(result, taskId);
    });
  }

  /** The methods of the interceptors extension. */
  private forwarded(): Record<string, Answer> {
    const [backend] = this.backends;
    const forward =
      (method: string): Answer =>
      (call, params) =>
        this.via(call, () => backend.request(method, params, call));
    return Object.fromEntries(INTERCEPTOR_METHODS.map(method => [method, forward(method)]));
  }

  private setLevel(params: Params, exchange: McpCall): Promise<Result> {
    return this.via(exchange, async () => {
      const known = this.backends.filter(({ description }) => description !== undefined);
      const results = await Promise.allSettled(known.map(backend => backend.setLevel(params, exchange)));
      // A backend that is down gets the level once it is up.
      const set = results.find(one => one.status === 'fulfilled');
      if (!set && results[0]?.status === 'rejected') throw results[0].reason;
      return set?.value ?? {};
    });
  }

  async admitSubscription(uri: string, exchange: McpCall): Promise<boolean> {
    try {
      await this.via(exchange, async () => {
        const { backend } = await this.set.route('resources/subscribe', { uri }, exchange);
        await backend.subscribe(uri, exchange);
      });
      return true;
    } catch (error) {
      if (error instanceof NotHonoredError) return false;
      throw error;
    }
  }

  readonly pageShowing = (
    method: DispatchedMethod,
    params: Params,
    exchange: McpCall,
  ): Promise<Listing | undefined> =>
    this.via(exchange, async () => {
      return isList(method) ? undefined : this.set.listingOf(method, params, exchange);
    });

  toolSchemas(name: string, exchange: McpCall): Promise<ToolSchemas | undefined> {
    return this.via(exchange, async () => {
      const { backend, params } = await this.set.route('tools/call', { name }, exchange);
      return backend.lists.find('tools/list', exchange, row => row['name'] === params['name']);
    });
  }

  readonly headerParams = async (name: string, call: McpCall): Promise<readonly HeaderParam[]> =>
    declaredIn((await this.toolSchemas(name, call))?.inputSchema);

  get isBound(): boolean {
    return this.backends.some(({ isBound }) => isBound);
  }

  async known(): Promise<void> {
    const { unknown } = this;
    const never = new AbortController().signal;
    if (unknown.length > 0) await this.set.reach(unknown, never, this.backends.length === 1);
  }

  opened(channel: ClientChannel): void {
    this.clients.add(channel);
    for (const backend of this.backends) backend.opened(channel);
  }

  notified(channel: ClientChannel, method: string, params: Params | undefined): void {
    for (const backend of this.backends) backend.notified(channel, method, params);
  }

  closed(channel: ClientChannel): void {
    this.clients.delete(channel);
    for (const backend of this.backends) backend.closed(channel);
  }

  report(error: Error): void {
    const now = Date.now();
    const { reports } = this;
    if (now >= reports.until) {
      const others = reports.count - MAX_REPORTS;
      if (others > 0) this.logger.debug(`${others} more problems were not logged`);
      Object.assign(reports, { until: now + REPORTS_MS, count: 0 });
    }
    reports.count += 1;
    if (reports.count <= MAX_REPORTS) this.logger.debug(logLine(error.message.slice(0, MAX_LOGGED)));
  }

  private get unknown(): readonly Backend[] {
    return this.backends.filter(({ description }) => description === undefined);
  }

  /** Connects to the unknown backends, unless a known one can answer. One reachable backend is enough. */
  private async describe({ method, reply: { signal } }: McpCall): Promise<void> {
    const { unknown } = this;
    if (unknown.length === 0) return;
    const isOfTask = method.startsWith('tasks/');
    if (isOfTask ? this.hasTasks : offers(this.description.capabilities, method)) {
      for (const backend of unknown) backend.keepTrying();
      return;
    }
    const { backends, problem } = await this.set.reach(unknown, signal, this.backends.length === 1);
    // The id of a task names its backend, whose failure is the answer then.
    if (isOfTask) return;
    if (problem && unknown.length === this.backends.length && backends.length === 0) throw problem;
  }

  /** @throws McpException for a request that went through too many gateways */
  async via<T>(exchange: McpCall, work: () => Promise<T>): Promise<T> {
    nextHop(exchange.meta);
    // Each backend listens to it, and there may be many.
    setMaxListeners(0, exchange.reply.signal);
    return work();
  }

  private async subscribe(backend: Backend, uri: string, exchange: McpCall): Promise<Result> {
    const { subscriptions } = exchange;
    if (!subscriptions || !exchange.channel) {
      throw new McpException(McpErrorCode.MethodNotFound, 'Method not found');
    }
    const isNew = !subscriptions.has(uri);
    await subscriptions.add(uri);
    try {
      await backend.subscribe(uri, exchange);
      return {};
    } catch (error) {
      if (isNew) await subscriptions.delete(uri);
      throw error;
    }
  }
}

function mirrored(
  { tools, prompts, resources, completions, logging, extensions }: ServerCapabilities,
  passthrough: boolean,
): ServerCapabilities {
  const interceptors = passthrough ? extensions?.[INTERCEPTORS_EXTENSION] : undefined;
  const own = interceptors && { [INTERCEPTORS_EXTENSION]: interceptors };
  return defined({ logging, tools, prompts, resources, completions, extensions: own });
}

function merge(all: readonly ServerCapabilities[]): ServerCapabilities {
  const merged: Record<string, object> = {};
  for (const [name, capability] of all.flatMap(one => Object.entries(one) as [string, object][])) {
    merged[name] = { ...merged[name], ...capability };
  }
  return merged;
}
