import type { InjectionToken } from '@nestjs/common';
import type { Implementation, Result, ServerCapabilities } from '@modelcontextprotocol/server';
import type { Listing } from '../interceptors/boundary/list-guard.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { ChangeNotifier } from '../protocol/changes.js';
import type { ClientChannel, McpCall, Params } from '../protocol/mcp-call.js';
import type { DispatchedMethod } from '../protocol/methods.js';
import type { NamedKind, Traffic } from '../protocol/traffic.js';

/** Token of the object that answers for a server instead of the application's handlers. */
export const MCP_UPSTREAM: InjectionToken = 'nestjs-mcp:upstream';

/** The description of a server that has a backend. */
export interface UpstreamDescription {
  /** The identity of the server, if it differs from the application's options. */
  readonly info?: Implementation;
  readonly instructions?: string;
  readonly capabilities: ServerCapabilities;
}

/** The JSON Schemas of a listed tool. */
export interface ToolSchemas {
  readonly inputSchema?: Record<string, unknown>;
  readonly outputSchema?: Record<string, unknown>;
}

/** The backend does not report changes of a resource. Other resources of the same request are still admitted. */
export class NotHonoredError extends McpException {
  constructor(uri: string) {
    super(
      McpErrorCode.Refused,
      `The server behind this gateway does not report changes of ${uri.slice(0, 200)}`,
    );
  }
}

/** Whether a dependency of the server answers. */
export interface DependencyHealth {
  readonly name: string;
  readonly isUp: boolean;
}

/** Answers instead of a catalogue. Everything that the server offers comes from its backends. */
export interface Upstream {
  /** The latest known description. Read it only after `prepare`. */
  readonly description: UpstreamDescription;
  /** The scopes that a caller needs for a tool, by its name. Undefined if no tool needs scopes. */
  readonly toolScopes?: (name: string) => readonly string[];
  /** The rules of `toolScopes`: scopes by the name of a tool, or by a pattern. */
  readonly toolRules?: Readonly<Record<string, readonly string[]>>;
  /** Methods in addition to the protocol's own methods. */
  readonly extensionMethods: Readonly<Record<string, (params: Params, call: McpCall) => Promise<Result>>>;
  /** @param changes notifies all clients, except clients with a channel */
  open(changes: ChangeNotifier): void;
  /** Observes the requests to the backends. Called before `open`. */
  observe(traffic: Traffic): void;
  /** Whether a backend has listed the tool or prompt so far. */
  isListed(kind: NamedKind, name: string): boolean;
  /** Whether each backend can be reached. Never rejects. */
  health(signal: AbortSignal): Promise<readonly DependencyHealth[]>;
  /** Closes all connections. */
  close(): Promise<void>;
  /**
   * Prepares for a message, before a server exists to answer it.
   * @throws McpException if it cannot be answered, because the backend is unknown
   */
  prepare(call: McpCall): Promise<void>;
  /** @throws McpException, or the SDK's `ProtocolError`: the JSON-RPC error to answer with */
  dispatch(method: DispatchedMethod, params: Params, call: McpCall): Promise<Result>;
  /** Sets the log level of a 2025-era client. */
  setLevel(params: Params, call: McpCall): Promise<Result>;
  /**
   * Lets the backend decide on a subscription of a 2026-era client, and holds it until the call's signal aborts.
   * @throws NotHonoredError if the backend does not report changes of the resource, and McpException if it is refused
   */
  admitSubscription(uri: string, call: McpCall): Promise<void>;
  /** The list page that shows the handler that a call names, as the caller sees it. */
  listingFor(method: DispatchedMethod, params: Params, call: McpCall): Promise<Listing | undefined>;
  /** The schemas of a tool, as the caller sees it; undefined if the caller does not see it. */
  toolSchemas(name: string, call: McpCall): Promise<ToolSchemas | undefined>;
  /** Called when a client has opened a channel. */
  opened(channel: ClientChannel): void;
  /** Called when a client has sent a notification. */
  notified(channel: ClientChannel, method: string, params: Params | undefined): void;
  /** Called when a client's channel has closed. */
  closed(channel: ClientChannel): void;
}
