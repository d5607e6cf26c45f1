import type { Result, ServerCapabilities } from '@modelcontextprotocol/server';
import type { DependencyHealth, Handlers } from '../protocol/handlers.js';
import type { AskClient, McpCall, ReplyChannel } from '../protocol/mcp-call.js';
import type { Admission, Permissions } from '../protocol/permissions.js';
import type { OwnMethod, ServerExtension, Views } from '../protocol/server-extension.js';
import { Traffic } from '../protocol/traffic.js';

/** The extensions of a server, as one. */
export class Extensions {
  /** The methods that they answer. */
  readonly methods: ReadonlyMap<string, OwnMethod>;
  /** The values of `resultType` that they add. */
  readonly resultTypes: ReadonlySet<unknown>;
  /** Answers instead of the application's handlers. */
  readonly handlers?: Handlers;
  readonly permissions?: Permissions;
  readonly admission?: Admission;
  readonly views?: Views;
  /** Undefined if none of them observes requests. */
  readonly traffic?: Traffic;

  constructor(readonly all: readonly ServerExtension[]) {
    this.methods = new Map(all.flatMap(({ methods = {} }) => Object.entries(methods)));
    this.resultTypes = new Set(all.flatMap(({ resultTypes = [] }) => resultTypes));
    this.handlers = all.find(({ handlers }) => handlers)?.handlers;
    this.permissions = all.find(({ permissions }) => permissions)?.permissions;
    this.admission = all.find(({ admission }) => admission)?.admission;
    this.views = all.find(({ views }) => views)?.views;
    this.traffic = Traffic.of(all.flatMap(({ observe }) => observe ?? []));
  }

  /** Adds what clients learn of the extensions. */
  describedIn(capabilities: ServerCapabilities): ServerCapabilities {
    const own = this.all.flatMap(one => (one.id ? [[one.id, one.settings?.() ?? {}] as const] : []));
    if (own.length === 0) return capabilities;
    const extensions = { ...capabilities.extensions, ...Object.fromEntries(own) };
    return { ...capabilities, extensions: extensions as ServerCapabilities['extensions'] };
  }

  /** Sends a request to a client outside of its calls. */
  ask(call: McpCall, send: AskClient, ...asked: Parameters<AskClient>): Promise<Result> {
    const through = this.all.reduceRight<AskClient>(
      (next, one) => (one.ask ? (...own) => one.ask!(call, next, ...own) : next),
      send,
    );
    return through(...asked);
  }

  /** Sends notifications to a client outside of its calls. */
  notifier(callOf: () => McpCall, send: ReplyChannel['notify']): ReplyChannel['notify'] {
    return this.all.reduceRight((next, one) => one.notifier?.(callOf, next) ?? next, send);
  }

  /**
   * Calls the listener when an extension has a notification for all lasting connections.
   * @returns a function that removes the listener
   */
  onNotification(listener: (method: string) => void): () => void {
    const removals = this.all.map(one => one.onNotification?.(listener));
    return () => {
      for (const remove of removals) remove?.();
    };
  }

  /** Whether the stores that they need can be reached. Never rejects. */
  health(signal: AbortSignal): Promise<DependencyHealth[]> {
    return Promise.all(this.all.flatMap(one => one.health?.(signal) ?? []));
  }

  /** Waits up to `timeoutMs` milliseconds for work that outlasts its calls, then ends it. */
  async close(timeoutMs: number): Promise<void> {
    await Promise.all(this.all.map(async one => one.close?.(timeoutMs)));
  }

  /** What they offer, for the log of the start. */
  get offered(): string[] {
    return this.all.flatMap(({ offered }) => offered ?? []);
  }

  /** Their lines for the log of the start. */
  get startLines(): string[] {
    return this.all.flatMap(one => one.startLines?.() ?? []);
  }
}
