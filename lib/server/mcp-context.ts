import type {
  AuthInfo,
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  RequestId,
} from '@modelcontextprotocol/server';
import type { HeaderScalar } from '../schema/header-value.js';
import type { ChangeNotifier } from './changes.js';
import type { Era, Exchange } from './exchange.js';

/** Progress of a call. `progress` must grow with every report. */
export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

type LogMethod = (data: unknown, logger?: string) => Promise<void>;

/** Sends log messages to the client: `log('info', data)` or `log.info(data)`. */
export type McpLog = ((level: LoggingLevel, data: unknown, logger?: string) => Promise<void>) &
  Readonly<Record<LoggingLevel, LogMethod>>;

const LEVELS: readonly LoggingLevel[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/** What a handler knows of the call it serves, and what it can send while it runs. Injected by `@Ctx()`. */
export class McpContext {
  #log?: McpLog;

  /** @internal */
  constructor(
    private readonly exchange: Exchange,
    private readonly changes: ChangeNotifier,
    private readonly headerValue?: (name: string) => HeaderScalar | undefined,
  ) {}

  /** Fires when the client cancels the call or goes away, and when the server shuts down. */
  get signal(): AbortSignal {
    return this.exchange.signal;
  }

  /** JSON-RPC id of the request. */
  get requestId(): RequestId {
    return this.exchange.requestId;
  }

  /** The MCP method, such as `tools/call`. */
  get method(): string {
    return this.exchange.method;
  }

  /** `modern` for 2026-07-28, `legacy` for the 2025-era revisions. */
  get era(): Era {
    return this.exchange.era;
  }

  /** The revision that this request is served by, such as `2026-07-28`. */
  get protocolVersion(): string {
    return this.exchange.protocolVersion;
  }

  /** The session, on a 2025-era connection that has one. */
  get sessionId(): string | undefined {
    return this.exchange.sessionId;
  }

  /** What the application's own authentication put on `request.auth`. */
  get authInfo(): AuthInfo | undefined {
    return this.exchange.authInfo;
  }

  /** Name and version of the client, where it gave them. */
  get clientInfo(): Implementation | undefined {
    return this.exchange.clientInfo;
  }

  /** What the client can do, where it said so. */
  get clientCapabilities(): ClientCapabilities | undefined {
    return this.exchange.clientCapabilities;
  }

  /** The HTTP request's headers; empty over stdio. */
  get headers(): Readonly<Record<string, string | string[] | undefined>> {
    return this.exchange.http?.headers ?? {};
  }

  /**
   * The argument of a tool that clients repeat in the header `Mcp-Param-<name>`, as `@HeaderParam` gives it: for guards,
   * which run before the arguments are validated. It says what the call asks for, not what its caller may do.
   * @param name as in `@McpHeader(name)`, in whatever case
   * @returns undefined where the call has no such argument, or the tool declares no such header
   */
  headerParam(name: string): string | number | boolean | undefined {
    return this.headerValue?.(name);
  }

  /** Express's or Fastify's request; undefined over stdio. */
  get request(): object | undefined {
    return this.exchange.http?.request;
  }

  /** @internal Express's or Fastify's response. */
  get response(): object | undefined {
    return this.exchange.http?.response;
  }

  /** The request's `_meta`. */
  get meta(): Readonly<Record<string, unknown>> {
    return this.exchange.meta ?? {};
  }

  /** The client's answers to the latest `inputRequired(...)`, by key; undefined in the first round. */
  get inputResponses(): Readonly<Record<string, unknown>> | undefined {
    return this.exchange.inputResponses;
  }

  /** The state that the latest `inputRequired(...)` carried, as the client returned it: unverified input. */
  requestState<T = string>(): T | undefined {
    return this.exchange.requestState<T>();
  }

  /** Tells the client how far the call is. Does nothing when the client did not ask for progress. */
  async reportProgress(progress: number | Progress, total?: number, message?: string): Promise<void> {
    const progressToken = this.meta['progressToken'];
    if (progressToken === undefined || this.signal.aborted) return;
    const report = typeof progress === 'number' ? { progress, total, message } : progress;
    await this.exchange.notify('notifications/progress', { progressToken, ...report });
  }

  /** @internal An Observable's earlier emission, as progress. */
  progressOf(value: unknown, index: number): void {
    const report: Progress = isProgress(value)
      ? value
      : { progress: index, message: typeof value === 'string' ? value : JSON.stringify(value) };
    this.reportProgress(report).catch(() => undefined);
  }

  /** Sends log messages to the client, as far as its level admits them. */
  get log(): McpLog {
    return (this.#log ??= this.createLog());
  }

  private createLog(): McpLog {
    const log: McpLog = Object.assign(
      (level: LoggingLevel, data: unknown, logger?: string) => this.exchange.log(level, data, logger),
      {} as Record<LoggingLevel, LogMethod>,
    );
    for (const level of LEVELS) {
      Object.assign(log, { [level]: (data: unknown, logger?: string) => log(level, data, logger) });
    }
    return log;
  }

  /** Tells every client that subscribed to the resource that it changed. */
  sendResourceUpdated(uri: string): void {
    this.changes.resourceUpdated(uri);
  }

  /** Tells every client that the list of tools changed. The registry does so by itself. */
  sendToolListChanged(): void {
    this.changes.toolsChanged();
  }

  /** Tells every client that the list of prompts changed. The registry does so by itself. */
  sendPromptListChanged(): void {
    this.changes.promptsChanged();
  }

  /** Tells every client that the list of resources changed. The registry does so by itself. */
  sendResourceListChanged(): void {
    this.changes.resourcesChanged();
  }
}

const isProgress = (value: unknown): value is Progress =>
  typeof value === 'object' && value !== null && typeof (value as Progress).progress === 'number';
