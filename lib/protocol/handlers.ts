import type { Implementation, ServerCapabilities } from '@modelcontextprotocol/server';
import type { HeaderParam } from './header-param.js';
import type { Listings } from './listings.js';
import type { Answer } from './answer.js';
import type { ChangeNotifier } from './changes.js';
import type { ClientChannel, McpCall, Params } from './mcp-call.js';
import type { DispatchedMethod } from './methods.js';
import type { Requirements } from './permissions.js';
import type { Traffic } from './traffic.js';
import type { NamedKind } from './traffic-listener.js';

/** How a server describes itself to its clients. */
export interface ServerDescription {
  /** The identity of the server, if it differs from the options. */
  readonly info?: Implementation;
  readonly instructions?: string;
  readonly capabilities: ServerCapabilities;
}

/** The JSON Schemas of a listed tool. */
export interface ToolSchemas {
  readonly inputSchema?: Record<string, unknown>;
  readonly outputSchema?: Record<string, unknown>;
}

/** Whether a dependency of the server answers. */
export interface DependencyHealth {
  readonly name: string;
  readonly isUp: boolean;
}

/** The connections of 2025-era clients, for handlers that send them notifications and requests of their own. */
export interface ChannelListener {
  /** Whether a node must keep the client's side between two requests, because another node cannot go on with it. */
  readonly isBound: boolean;
  /** Waits until it is known what the server offers, for a session that another node has opened. Never rejects. */
  known(): Promise<void>;
  /** Called when the client may be used, and when this node becomes the home of its session. */
  opened(channel: ClientChannel): void;
  /** Called when the client of a channel has sent a notification. */
  notified(channel: ClientChannel, method: string, params: Params | undefined): void;
  closed(channel: ClientChannel): void;
}

/** Everything that a server offers: the handlers of the application, or the backends of a gateway. */
export interface Handlers extends Listings, Requirements {
  /** Whether other servers answer. They report their changes to each node themselves. */
  readonly isRemote: boolean;
  /** Whether its lists need tokens of their callers. Default: they do not. */
  readonly needsTokens?: boolean;
  /** The latest known description. It may change while the server runs. */
  readonly description: ServerDescription;
  /** Answers a method of the protocol. Composed into the pipeline once, at start. */
  answer(method: DispatchedMethod): Answer;
  /** Methods in addition to the protocol's own methods. */
  readonly methods: Readonly<Record<string, Answer>>;
  /** Whether one of the additional methods is offered now. */
  offers(method: string): boolean;
  /** The header parameters of a tool, as the caller sees it. */
  readonly headerParams: (
    tool: string,
    call: McpCall,
  ) => readonly HeaderParam[] | Promise<readonly HeaderParam[]>;
  /** The JSON Schemas of a tool; undefined if the caller does not see it. */
  toolSchemas(tool: string, call: McpCall): ToolSchemas | undefined | Promise<ToolSchemas | undefined>;
  /**
   * Decides on a subscription of a 2026-07-28 client. It ends when the signal of the call aborts.
   * @returns whether changes of the resource are reported
   * @throws McpException if it is refused
   */
  admitSubscription(uri: string, call: McpCall): Promise<boolean>;
  /** How many subscriptions of one request are decided in parallel. */
  readonly subscriptionsAtOnce: number;
  /** Whether there is a tool or prompt of this name. Undefined if that is not known here. */
  isKnown?(kind: NamedKind, name: string): boolean;
  /** Whether another server has listed the tool or prompt so far. */
  isListed?(kind: NamedKind, name: string): boolean;
  /**
   * Prepares for a message, before a server exists to answer it.
   * @throws McpException if it cannot be answered
   */
  prepare?(call: McpCall): Promise<void>;
  readonly channels?: ChannelListener;
  /**
   * @param changes notifies all clients, except clients with a channel
   * @param traffic observes the requests to other servers
   */
  open?(changes: ChangeNotifier, traffic: Traffic | undefined): void;
  /** Whether each of the other servers can be reached. Never rejects. */
  health?(signal: AbortSignal): Promise<readonly DependencyHealth[]>;
  close?(): Promise<void>;
}
