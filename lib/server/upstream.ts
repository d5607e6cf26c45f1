import type { InjectionToken } from '@nestjs/common';
import type { Implementation, Result, ServerCapabilities } from '@modelcontextprotocol/server';
import type { Listing } from '../interceptors/boundary/list-guard.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { ChangeNotifier } from '../protocol/changes.js';
import type { ClientChannel, McpCall, Params } from '../protocol/mcp-call.js';
import type { DispatchedMethod } from '../protocol/methods.js';
import type { Traffic } from '../protocol/traffic.js';

/** Token of what answers for a server in the place of the application's handlers. */
export const MCP_UPSTREAM: InjectionToken = 'nestjs-mcp:upstream';

/** What a server says of itself where another one stands behind it. */
export interface UpstreamDescription {
  /** Who it is, where that is not what the application's options say. */
  readonly info?: Implementation;
  readonly instructions?: string;
  readonly capabilities: ServerCapabilities;
}

/** The JSON Schemas of a tool, as it was listed. */
export interface ToolSchemas {
  readonly inputSchema?: Record<string, unknown>;
  readonly outputSchema?: Record<string, unknown>;
}

/** What stands behind will not tell of a resource, which is no reason to refuse others that are asked for with it. */
export class NotHonoredError extends McpException {
  constructor(uri: string) {
    super(McpErrorCode.Refused, `The server behind this gateway does not tell of ${uri.slice(0, 200)}`);
  }
}

/** Whether something that a server depends on answers. */
export interface DependencyHealth {
  readonly name: string;
  readonly isUp: boolean;
}

/** What answers in the place of a catalogue: everything that a server offers comes from behind it. */
export interface Upstream {
  /** The latest there is. Only to be read after `prepare`. */
  readonly description: UpstreamDescription;
  /** The scopes that a caller needs for a tool, by its name. Undefined if no tool needs scopes. */
  readonly toolScopes?: (name: string) => readonly string[];
  /** Methods beside the protocol's own. */
  readonly extensionMethods: Readonly<Record<string, (params: Params, call: McpCall) => Promise<Result>>>;
  /** @param changes tells all clients, but for those who have a channel */
  open(changes: ChangeNotifier): void;
  /** Has the requests to what stands behind observed. Called before `open`. */
  observe(traffic: Traffic): void;
  /** Whether each server that stands behind can be reached. Never rejects. */
  health(signal: AbortSignal): Promise<readonly DependencyHealth[]>;
  /** Gives up everything that is open. */
  close(): Promise<void>;
  /**
   * Gets ready for a message, before there is a server to answer it.
   * @throws McpException where it cannot be answered, for that nothing is known of what stands behind
   */
  prepare(call: McpCall): Promise<void>;
  /** @throws McpException, or the SDK's `ProtocolError`: the JSON-RPC error to answer with */
  dispatch(method: DispatchedMethod, params: Params, call: McpCall): Promise<Result>;
  /** Sets what a 2025-era client wants to be told of. */
  setLevel(params: Params, call: McpCall): Promise<Result>;
  /**
   * Lets what stands behind decide on a subscription of a 2026-era client, and holds it until the call's signal fires.
   * @throws NotHonoredError for what will not be told of, and McpException where it was refused
   */
  admitSubscription(uri: string, call: McpCall): Promise<void>;
  /** The page of a list that shows what a call names, as its caller sees it. */
  listingFor(method: DispatchedMethod, params: Params, call: McpCall): Promise<Listing | undefined>;
  /** The schemas of a tool as its caller sees it, if it does. */
  toolSchemas(name: string, call: McpCall): Promise<ToolSchemas | undefined>;
  /** A client has opened a channel. */
  opened(channel: ClientChannel): void;
  /** A client tells something that is no request. */
  notified(channel: ClientChannel, method: string, params: Params | undefined): void;
  /** A client's channel is gone. */
  closed(channel: ClientChannel): void;
}
