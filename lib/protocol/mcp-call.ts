import type {
  AuthInfo,
  ClientCapabilities,
  Implementation,
  InputRequest,
  LoggingLevel,
  RequestId,
  RequestOptions,
  Result,
  ServerEventBus,
} from '@modelcontextprotocol/server';
import type { Observation } from './observation.js';
import type { Principal } from './principal.js';

/** The two eras of the protocol: `modern` is 2026-07-28 and later, `legacy` is every earlier revision. */
export type Era = 'modern' | 'legacy';

export type Params = Readonly<Record<string, unknown>>;

/** The HTTP request that carries a message, with the objects of the platform (Express, Fastify) and Node. */
export interface HttpExchange {
  /** The platform's request. */
  readonly request: object;
  /** The platform's response. */
  readonly response: object;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Names and values of the headers in turns, as received. */
  readonly rawHeaders: readonly string[];
  /** The key of the caller in the limits per caller; see `limitKeyOf`. */
  readonly caller: string;
  /** The part of the server that the request is for. Undefined: the whole server. */
  readonly view?: View;
}

/** A part of a server, which the URL or a header of a request chooses. */
export interface View {
  /** Identifies it among the views of the server. */
  readonly key: string;
  /** Whether a header has chosen it, so that its lists are not for other callers of the URL. */
  readonly isPrivate: boolean;
  /** Whether an entry of the catalogue belongs to it. */
  has(entry: object): boolean;
}

/** Who has sent a call, as it was known when the call entered. It outlives the request. */
export interface CallerIdentity {
  /** Identifies the caller; see `callerOf`. */
  readonly key: string;
  /** The key of the caller in the limits per caller; see `limitKeyOf`. */
  readonly limitKey: string;
  /** The caller, as interceptors see it. Undefined if they read it from `authInfo`. */
  readonly principal?: Principal;
}

/** Sends a request to a client, and returns its answer unchanged. */
export type AskClient = (
  method: string,
  params: Params | undefined,
  options: Pick<RequestOptions, 'signal' | 'timeout' | 'onprogress' | 'resetTimeoutOnProgress'> & {
    /** Names the input request within its call. */
    readonly key?: string;
  },
) => Promise<Result>;

/** The channel to the client while its call runs. */
export interface ReplyChannel {
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal;
  /** Whether `signal` has aborted. It does not create the signal; undefined if only the signal knows. */
  readonly isEnded?: boolean;
  /** Sends a notification on the call's own stream. */
  notify(method: string, params: Record<string, unknown>): Promise<void>;
  /**
   * Ends the connection of the call's stream for `retryMs` milliseconds, if the client can reconnect (2025 sessions).
   */
  pause?(retryMs: number): void;
  /**
   * Accepts a call whose reply stays open until `signal` aborts; the result follows then.
   * @returns a function that sends notifications on the open reply
   */
  stayOpen?(): ReplyChannel['notify'];
  /** Restarts the call's deadline, because the call makes progress. */
  extend?(): void;
  /** Sets the status message of the task that the call is, or may become. */
  status?(message: string): void | Promise<void>;
  /**
   * Sends a request to the client while the handler waits. Undefined if the call cannot do so now: read it each time.
   */
  readonly ask?: AskClient;
  /** Ends when the channel ends the call without its answer, and when the reply stays open, perhaps for days. */
  observation?: Observation;
}

/** Takes part in the run of a call's handler. */
export interface CallLifecycle {
  /**
   * Called right before the method of the handler runs, after its guards, pipes and `@Ask()`. The method waits for it.
   * @param record returns what the call has recorded, to continue it in another process; undefined if it asks nothing
   */
  onEnter(record: (() => unknown) | undefined): Promise<void>;
  /** Called after each answer and step that the call has recorded. The handler waits for it. */
  onRecord?(record: () => unknown): Promise<void>;
  /** Whether an earlier run of the call has passed the guards, so that they do not run again. */
  readonly isAdmitted?: boolean;
}

/** A lasting connection to a 2025-era client, which a gateway uses for its own notifications and requests. */
export interface ClientChannel {
  /** Changes for this client only. */
  readonly bus: ServerEventBus;
  /** The client's capabilities, once it has declared them. */
  readonly capabilities: ClientCapabilities | undefined;
  /** Sends a request to the client outside of its calls. */
  readonly request: AskClient;
  /** Sends a notification to the client outside of its calls. */
  notify(method: string, params: Params | undefined): Promise<void>;
  /** What the nodes share that serve the client. Undefined if this node alone serves it. */
  readonly shared?: SharedChannel;
}

/** The client's side of a session that several nodes serve. */
export interface SharedChannel {
  /** Whether this node sends the client what belongs to no call. */
  readonly isHome: boolean;
  /** Whether the session has ended on all nodes. */
  readonly isOver: boolean;
  /** The resources to which the client has subscribed, on any node. */
  readonly subscribed: ReadonlySet<string>;
  /** Reads a text that the nodes share, by its name. @throws UnavailableException */
  read(name: string): Promise<string | undefined>;
  /**
   * Replaces such a text; undefined removes it.
   * @returns false if it is not as expected, so that another node was faster
   * @throws UnavailableException
   */
  replace(name: string, expected: string | undefined, text: string | undefined): Promise<boolean>;
}

/** Holds a call's journal between rounds on the server. The client never sees it. */
export interface RoundMemory {
  journal?: unknown;
}

/** Passes messages through the interceptor chain that belong to an earlier call, such as the result of its task. */
export interface LateMessages {
  /**
   * Passes the result of the earlier call.
   * @param params of the earlier call, as far as they are known
   * @throws McpException if it is refused; LimitReached (503) if an interceptor fails, so that the client reads it again
   */
  result(method: string, params: Params, result: Result): Promise<Result>;
  /**
   * Passes input requests for the client.
   * @returns those that the client has to answer, and the answers of interceptors to the others
   * @throws McpException if one is refused; LimitReached (503) if an interceptor fails
   */
  input(requests: Readonly<Record<string, InputRequest>>): Promise<{
    readonly open: Readonly<Record<string, InputRequest>>;
    readonly answers: Params;
  }>;
  /** Passes a status message of the task of an earlier call. @returns undefined if it is refused */
  status(message: string): Promise<string | undefined>;
}

/** One request of a client, as data that does not depend on a transport. */
export interface McpCall {
  readonly requestId: RequestId;
  readonly method: string;
  /** The params, as received. */
  readonly params: Params;
  readonly era: Era;
  readonly protocolVersion: string;
  readonly reply: ReplyChannel;
  /** Set by a stage of an extension. */
  readonly lifecycle?: CallLifecycle;
  readonly sessionId?: string;
  readonly authInfo?: AuthInfo;
  readonly clientInfo?: Implementation;
  readonly clientCapabilities?: ClientCapabilities;
  readonly http?: HttpExchange;
  /** Set for calls that may outlive their request. */
  readonly identity?: CallerIdentity;
  /** The request's `_meta`, without the fields of the protocol itself. */
  readonly meta?: Params;
  /** The client's answers of the latest round to an `input_required` result. */
  readonly inputResponses?: Params;
  /** Keys of answers that were dropped because they are malformed. */
  readonly malformedResponses?: readonly string[];
  /** Passes answers through the interceptor chain before other code sees them. */
  readonly receive?: (responses: Params) => Promise<Params>;
  /** Set for methods of extensions. Undefined without interceptors. */
  readonly late?: LateMessages;
  readonly requestState?: unknown;
  /** Replaces the `requestState` if the server keeps the journal of the call. */
  readonly memory?: RoundMemory;
  /** The lowest level of log messages to send. Undefined: no messages are sent. */
  readonly minLogLevel?: LoggingLevel;
  /** The client's lasting connection, for a gateway (2025 era). */
  readonly channel?: ClientChannel;
  /** Resource subscriptions of this connection (2025 era). Clients of 2026-07-28 use `subscriptions/listen` instead. */
  readonly subscriptions?: Subscriptions;
  /** Whether its tool is named in the arguments of another tool, so that headers need not repeat its parameters. */
  readonly isIndirect?: boolean;
  /** Whether no client has sent it, so that it is not observed. */
  readonly isSynthetic?: boolean;
}

/** The resource subscriptions of one connection. */
export interface Subscriptions {
  has(uri: string): boolean;
  /** @throws McpException for too many subscriptions; UnavailableException if other nodes cannot be notified */
  add(uri: string): Promise<void>;
  /** @throws UnavailableException if other nodes cannot be notified */
  delete(uri: string): Promise<void>;
}
