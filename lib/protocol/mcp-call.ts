import type {
  AuthInfo,
  ClientCapabilities,
  Implementation,
  LoggingLevel,
  RequestId,
  RequestOptions,
  Result,
  ServerEventBus,
} from '@modelcontextprotocol/server';

/** The protocol's two ways of talking: `modern` is 2026-07-28 and later, `legacy` everything before. */
export type Era = 'modern' | 'legacy';

export type Params = Readonly<Record<string, unknown>>;

/** The HTTP request that carries a message, as the platform (Express, Fastify) and Node know it. */
export interface HttpExchange {
  /** The platform's request. */
  readonly request: object;
  /** The platform's response. */
  readonly response: object;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Names and values of the headers by turns, as they came. */
  readonly rawHeaders: readonly string[];
  /** The caller in the limits for each caller; see `limitKeyOf`. */
  readonly caller: string;
}

/** Sends a request to a client, and gives its answer as it came. */
export type AskClient = (
  method: string,
  params: Params | undefined,
  options: Pick<RequestOptions, 'signal' | 'timeout' | 'onprogress' | 'resetTimeoutOnProgress'>,
) => Promise<Result>;

/** The way back to the client while its call runs. */
export interface ReplyChannel {
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Sends a notification on the call's own stream. */
  notify(method: string, params: Record<string, unknown>): Promise<void>;
  /** Ends the connection of the call's stream, for a time in milliseconds, if the client can come back (2025 sessions). */
  pause?(retryMs: number): void;
  /** Restarts the time that the call may take: it makes progress. */
  extend?(): void;
  /** Asks the client something on the call's own stream, if the connection carries requests to it (2025 era). */
  readonly ask?: AskClient;
}

/** A 2025-era client on a connection that lasts: what stands behind can tell it things and ask it things. */
export interface ClientChannel {
  /** Changes that this client alone is told of. */
  readonly bus: ServerEventBus;
  /** What the client said it can do, once it has. */
  readonly capabilities: ClientCapabilities | undefined;
  /** Asks the client something that belongs to none of its requests. */
  readonly request: AskClient;
  /** Tells the client something that belongs to none of its requests. */
  notify(method: string, params: Params | undefined): Promise<void>;
}

/** Where a call leaves its journal for its next round, where all are in this process: no client ever has it. */
export interface RoundMemory {
  journal?: unknown;
}

/** One request of a client: data, without a transport. */
export interface McpCall {
  readonly requestId: RequestId;
  readonly method: string;
  /** As they came over the wire. */
  readonly params: Params;
  readonly era: Era;
  readonly protocolVersion: string;
  readonly reply: ReplyChannel;
  readonly sessionId?: string;
  readonly authInfo?: AuthInfo;
  readonly clientInfo?: Implementation;
  readonly clientCapabilities?: ClientCapabilities;
  readonly http?: HttpExchange;
  /** The request's `_meta`, less what the protocol itself keeps there. */
  readonly meta?: Params;
  /** Answers to an `input_required` result, of the latest round only. */
  readonly inputResponses?: Params;
  /** Keys of answers that were left out, because they are not answers. */
  readonly malformedResponses?: readonly string[];
  /** Lets answers pass the chain before anybody else sees them. */
  readonly receive?: (responses: Params) => Promise<Params>;
  readonly requestState?: unknown;
  /** Stands in for a `requestState` when all rounds of the call are in this process (2025 era). */
  readonly memory?: RoundMemory;
  /** The least severe log message that is sent; undefined: none is. */
  readonly leastSevere?: LoggingLevel;
  /** The client's lasting connection, for a gateway (2025 era). */
  readonly channel?: ClientChannel;
  /** Resource subscriptions of this connection; 2026-07-28 listens instead. */
  readonly subscriptions?: Subscriptions;
}

/** The resources that one connection is subscribed to. */
export interface Subscriptions {
  has(uri: string): boolean;
  /** @throws McpException for too many; UnavailableException if other nodes cannot be told */
  add(uri: string): Promise<void>;
  /** @throws UnavailableException if other nodes cannot be told */
  delete(uri: string): Promise<void>;
}
