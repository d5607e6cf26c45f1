import type { Result } from '@modelcontextprotocol/server';
import type { Answer, Stage } from './answer.js';
import type { CallerLimit } from './caller-limit.js';
import type { DependencyHealth, Handlers } from './handlers.js';
import type { AskClient, Era, HttpExchange, McpCall, Params, ReplyChannel, View } from './mcp-call.js';
import type { Admission, Permissions, Requirement, Requirements } from './permissions.js';
import type { TrafficListener } from './traffic-listener.js';

type Notify = ReplyChannel['notify'];

/**
 * The places of an extension's stages around a method, from the outside to the inside. Each place holds the stages of
 * all extensions, in their order.
 */
export interface Stages {
  /** Before everything else: decides whether the caller may make the call. */
  readonly admit?: Stage;
  /** Around each round of a call: sees and changes what the caller sends and gets. */
  readonly intercept?: Stage;
  /** Right before the handler: sees the params that the other stages may have changed. */
  readonly answer?: Stage;
  /** After all others: checks again what they may have changed. Left out if no other extension has a stage. */
  readonly check?: Stage;
}

/** A method that an extension answers. */
export interface OwnMethod {
  readonly answer: Answer;
  /** The eras whose clients may call it. Default: both. */
  readonly eras?: readonly Era[];
  /** The field of the params that the `Mcp-Name` header must repeat. Default: no field. */
  readonly nameHeader?: string;
  /** Where it is declared, for messages. */
  readonly where?: string;
  /** What a caller needs. Default: what the server needs of a handler without a decorator. */
  readonly requirement?: Requirement;
  /**
   * Whether it is hidden from a caller, for whom it is as unknown as a method that does not exist. Default: false.
   * @param call undefined for a caller that nobody knows
   */
  readonly isHidden?: (call: McpCall | undefined) => boolean | Promise<boolean>;
  /** Whether interceptors see its requests and results, as the event of its name. Default: false. */
  readonly isIntercepted?: boolean;
}

/** What an extension reports to a client that listens. */
export interface OwnSubscription {
  /** The part of the client's filter that is accepted. The acknowledgement repeats it. */
  readonly accepted: Params;
  /**
   * Called after the acknowledgement.
   * @param notify sends a notification to the client, with the id of its subscription
   * @returns a function that is called when the client no longer listens
   */
  open(notify: Notify): () => void;
}

/** What operators see of a task, whoever created it. Arguments, elicitations and results are for its caller only. */
export interface TaskOverview {
  readonly id: string;
  readonly tool: string;
  readonly status: string;
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastUpdatedAt: string;
  readonly ttlMs: number;
  /** The key of the principal that created it; see `callerOf`. */
  readonly owner: string;
  /** The number of elicitations that wait for an answer. */
  readonly inputRequests: number;
}

/** The tasks of a server, for its operators. */
export interface TaskList {
  /** The number of tasks that `latest` chooses from. */
  size(): number;
  /** The latest tasks that this node has created or runs, the latest first. @throws UnavailableException */
  latest(max: number): Promise<readonly TaskOverview[]>;
  /** Cancels a task, unless it has ended or does not exist. @throws UnavailableException */
  cancel(id: string): Promise<void>;
}

/** The parts of a server that have URLs of their own, below that of the endpoint. */
export interface Views {
  /** The paths of all views with one choice: `/x/billing`. */
  suffixes(): readonly string[];
  /** The end of a path that chooses a view. Empty for the whole server; undefined for a view that does not exist. */
  suffixIn(path: string): string | undefined;
  /**
   * @param isPart whether the router has found a path of a view
   * @returns undefined for the whole server, false for a view that does not exist
   */
  of(url: string, headers: HttpExchange['headers'], isPart: boolean): View | undefined | false;
}

/** Takes the value of an option of a handler. @throws Error for a wrong value, which stops the start */
export type ClaimOption = (value: unknown, handler: object) => void;

/** What an extension uses of its server. */
export interface ExtendedServer extends Requirements {
  readonly handlers: Handlers;
  /** Whether an extension answers a method. */
  isOwn(method: string): boolean;
  /** The methods of the extensions. */
  readonly ownMethods: ReadonlyMap<string, OwnMethod>;
  /** Compares the header parameters of a call with its arguments. @param shown the list page that shows the tool */
  readonly headers: (call: McpCall, shown?: Result) => void | Promise<void>;
  readonly running: { readonly limit: CallerLimit };
}

/**
 * What a capability adds to a server. It exists before the server, and does not change. `pipeline.ts` holds the order in
 * which the stages run.
 */
export interface ServerExtension {
  /** The identifier in `capabilities.extensions`. Without it, clients do not learn of the extension. */
  readonly id?: string;
  /** The settings in the capabilities. Default: an empty object. */
  settings?(): Record<string, unknown>;
  /** Whether it works only on the application's handlers, so that a gateway leaves it out. Default: false. */
  readonly forOwnHandlers?: boolean;
  /** Called once, before all other functions, when the server is built. */
  attach?(server: ExtendedServer): void;
  /** What it offers, for the log of the start: `3 interceptors`. */
  readonly offered?: string;
  /** Further lines for the log of the start. */
  startLines?(): readonly string[];
  /** Observes each request of the server, from before its first stage until its answer is written. */
  readonly observe?: TrafficListener;
  /** Answers instead of the application's handlers. A server has at most one extension with handlers. */
  readonly handlers?: Handlers;
  /** Methods that the extension answers. */
  readonly methods?: Readonly<Record<string, OwnMethod>>;
  /** Its stages around a method; undefined if it has nothing to do for the method. */
  stages?(method: string, era: Era): Stages | undefined;
  /** Replaces a call before it is observed: the answer is that of the returned call. */
  redirect?(call: McpCall): McpCall;
  /**
   * Decides on a `subscriptions/listen` (2026-07-28), as far as it is about notifications of the extension.
   * @param notifications the client's whole filter; only the fields of the protocol are checked
   * @returns undefined if the extension has nothing to report
   * @throws McpException if the request is refused
   */
  listen?(notifications: Params, call: McpCall): Promise<OwnSubscription | undefined>;
  /** The options of `@Tool` that belong to the extension, and what takes their values. */
  readonly handlerOptions?: Readonly<Record<string, ClaimOption>>;
  /** The values of `resultType` that its stages add to calls. The server sends these results as they are. */
  readonly resultTypes?: readonly string[];
  /** Whether its stages compare header parameters with arguments, so that the server does not. */
  readonly checksHeaders?: boolean;
  /** Decides who sees and may use the handlers. A server has at most one extension with permissions. */
  readonly permissions?: Permissions;
  /** A server has at most one extension with views. */
  readonly views?: Views;
  /** Decides about HTTP requests. A server has at most one extension with an admission. */
  readonly admission?: Admission;
  /** Sends a request to a client outside of its calls. */
  ask?(call: McpCall, send: AskClient, ...asked: Parameters<AskClient>): Promise<Result>;
  /** Sends notifications to a client outside of its calls. */
  notifier?(callOf: () => McpCall, send: Notify): Notify;
  /**
   * Registers a listener for notifications to all lasting connections.
   * @returns a function that removes the listener
   */
  onNotification?(listener: (method: string) => void): () => void;
  /** The tasks of the server. A server has at most one extension with tasks. */
  readonly taskList?: TaskList;
  /** Whether the store that it needs can be reached. Never rejects. */
  health?(signal: AbortSignal): Promise<DependencyHealth>;
  /** Called when the server shuts down. Waits up to `timeoutMs` milliseconds for work that outlasts its call, then ends it. */
  close?(timeoutMs: number): Promise<void>;
}
