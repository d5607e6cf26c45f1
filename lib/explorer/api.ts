/*
 * The JSON API of the explorer. All paths are relative to the page, which is served at `<path>/index.html`; `<path>` redirects
 * there:
 *
 * | request              | body            | answer      |
 * | -------------------- | --------------- | ----------- |
 * | GET  `api/catalogue` |                 | `Catalogue` |
 * | GET  `api/chain`     |                 | `Chains`    |
 * | GET  `api/live`      |                 | `Live`      |
 * | GET  `api/findings`  |                 | `Findings`  |
 * | POST `api/callers`   | `CallerViewRequest` | `CallerView`    |
 * | POST `api/call`      | `CallRequest`   | `CallTrace` |
 * | POST `api/view`      | `ViewRequest`   | `AppView`   |
 * | POST `api/tasks`     | `TasksRequest`  | `Tasks`     |
 * | POST `api/cancel`    | `CancelRequest` | `{}`        |
 *
 * A POST needs `content-type: application/json` and the header `mcp-explorer: 1`, and comes from the same origin.
 * A failure has a 4xx or 5xx status and an `ApiError`.
 *
 * The page is the folder `page/` beside this file, flat: `index.html`, `*.js`, `*.css` and `*.svg`. Its `.ts` sources are
 * compiled to browser ES modules of the same names when the package is built. The module reads the folder once, at start-up.
 * The page has no inline script or style and no inline event handler: the Content-Security-Policy is `default-src 'none';
 * script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'`, with forms and bases
 * forbidden, and other pages that frame it. A `adoptedStyleSheets` constructed in a script works; a `style="…"` attribute does
 * not.
 *
 * `view.html?csp=<JSON>` is the frame of a view: it becomes the HTML that the page sends to it. Its origin is opaque, and its
 * Content-Security-Policy is what a host makes of `csp`.
 */

export interface ApiError {
  readonly error: string;
}

export type Era = 'modern' | 'legacy';

/** `method`: a method that an extension answers. */
export type Kind = 'tool' | 'prompt' | 'resource' | 'resource template' | 'completion' | 'method';

type Json = Readonly<Record<string, unknown>>;

/* ---- catalogue ---- */

export interface Catalogue {
  readonly servers: readonly CatalogueServer[];
}

export interface CatalogueServer {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  /** Path of the HTTP endpoint. Absent for a server on stdio alone: it can neither be called nor asked as a token. */
  readonly path?: string;
  /** A gateway offers what its backends do, so `handlers` is empty. */
  readonly isGateway: boolean;
  /** Whether `nestjs-mcp/auth` protects it. A pasted token is sent as `Authorization: Bearer` in any case. */
  readonly isProtected: boolean;
  /** The revisions that it serves, the newest first. */
  readonly revisions: readonly string[];
  readonly handlers: readonly CatalogueEntry[];
  /** Sum of the tokens of its tools. */
  readonly tokens: number;
  /** The ends of paths that choose a part of the server, such as a toolset. */
  readonly parts: readonly string[];
  /** The command that starts the official inspector for this server; `{origin}` stands for the origin of the page. */
  readonly inspector?: string;
}

export interface CatalogueEntry {
  readonly kind: Kind;
  /** Name, URI, or URI template: what a request names. */
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly className: string;
  readonly methodName: string;
  /** The enhancers of the method, in running order. */
  readonly steps: readonly Step[];
  /** Guards of `@Visible`, in the order in which they run. */
  readonly visible: readonly string[];
  /** All of them are needed. */
  readonly scopes: readonly string[];
  /** Whether it can be called without a token; absent without `nestjs-mcp/auth`. */
  readonly anonymous?: boolean;
  /** The entry of the list, as clients of each era get it before interceptors. Absent for a completion or method. */
  readonly definitions?: { readonly modern: Json; readonly legacy: Json };
  /** JSON Schemas of a method that the application declares. */
  readonly params?: Json;
  readonly result?: Json;
  /** The eras whose clients may call a method. Absent: both. */
  readonly eras?: readonly Era[];
  /** The field of a method's params that the `Mcp-Name` header repeats. */
  readonly nameHeader?: string;
  /** Arguments that clients also send as headers (SEP-2243). */
  readonly headers: readonly { readonly header: string; readonly argument: string }[];
  /** How long clients may keep what a resource says, in milliseconds. */
  readonly cache?: { readonly ttlMs: number; readonly scope?: 'public' | 'private' };
  /** Tokens of the definition in a model's context, estimated as characters of its JSON / 4. 0 for all but tools. */
  readonly tokens: number;
}

export interface Step {
  readonly kind: 'guard' | 'interceptor' | 'pipe' | 'filter';
  readonly name: string;
  readonly level: 'global' | 'class' | 'method' | 'parameter';
  /** Index of the parameter on which a pipe runs. */
  readonly parameter?: number;
}

/* ---- chain ---- */

export interface Chains {
  readonly servers: readonly ServerChain[];
}

export interface ServerChain {
  readonly server: string;
  /** All interceptors, also interceptors without a listed event. */
  readonly interceptors: readonly ChainInterceptor[];
  /** The events and phases that interceptors hook, each with what runs for it. Empty if the server only exposes them. */
  readonly phases: readonly ChainPhase[];
  readonly hosts: readonly ChainHost[];
  /** The stages of the application's extensions, by method, in running order. */
  readonly stages: readonly MethodStage[];
}

export interface MethodStage {
  readonly method: string;
  readonly place: 'admit' | 'intercept' | 'answer' | 'check';
  /** The class that has `@McpExtension()`. */
  readonly extension: string;
  readonly eras: readonly Era[];
}

export type Origin = 'default' | 'declared' | 'override' | 'policy file';

export interface Sourced<T> {
  readonly value: T;
  readonly from: Origin;
}

export interface ChainInterceptor {
  /** `host/name`: unique in a chain. */
  readonly id: string;
  readonly name: string;
  /** `local` for one of this process. */
  readonly host: string;
  readonly type: 'validation' | 'mutation' | 'sink';
  readonly description?: string;
  readonly mode: Sourced<'active' | 'audit'>;
  /** Absent for a sink: its failure never changes what happens to a message. */
  readonly failOpen?: Sourced<boolean>;
  readonly priority: Sourced<{ readonly request: number; readonly response: number }>;
  readonly timeoutMs: Sourced<number>;
  readonly hooks: Sourced<readonly { readonly events: readonly string[]; readonly phase: string }[]>;
  /** The condition, as text; `predicate` for a function. */
  readonly when?: Sourced<string>;
  /** Whether it has a configuration. Its content is not shown. */
  readonly config?: Origin;
  /** A validator that runs again on the changed payload (`final`), or only then (`only`). */
  readonly final?: 'final' | 'only';
  /** The revisions that it understands. */
  readonly compat?: string;
  readonly counters: Counters;
}

/** Since the application started. */
export interface Counters {
  readonly runs: number;
  /** How often it came to each outcome: `pass`, `deny`, `warn`, `mutated`, `unmodified`, `dropped`, `responded`, `crash`, `timeout`; of a sink `recorded`, `crash`, `timeout`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** How often it was skipped, by reason: `when`, `compat`, `busy`, `side-effects`. */
  readonly skipped: Readonly<Record<string, number>>;
  readonly failedOpen: number;
  /** In milliseconds, of the latest 512 runs; absent before the first. */
  readonly p50?: number;
  readonly p99?: number;
  /** For audit mode: the messages that it would have refused, and the messages that it would have changed. */
  readonly wouldRefuse: number;
  readonly wouldChange: number;
}

export interface ChainPhase {
  readonly event: string;
  readonly phase: 'request' | 'response';
  /** `receive`: validators, then mutators, then final validators. `send`: mutators, then validators. Sinks come last. */
  readonly direction: 'send' | 'receive';
  /** Ids of the interceptors in the order in which they run. */
  readonly order: readonly ChainTurn[];
}

export interface ChainTurn {
  readonly id: string;
  /** Validators of one step run side by side; mutators by turns. */
  readonly step: 'validators' | 'mutators' | 'final validators' | 'sinks';
  /** Why it is skipped for some messages, such as a `when`; absent if it always runs. */
  readonly skippedIf?: string;
}

export interface ChainHost {
  readonly name: string;
  /** `unknown`: it was not asked yet. */
  readonly state: 'connected' | 'unreachable' | 'unknown';
  readonly breaker: 'closed' | 'open' | 'half-open';
  readonly interceptors: number;
}

/* ---- callers ---- */

/** Made-up callers see lists and call nothing. A pasted token is used for the one request and not kept. */
export type Caller =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'made-up'; readonly scopes: readonly string[]; readonly roles: readonly string[] };

export interface CallerViewRequest {
  readonly server: string;
  readonly caller: Caller;
  /** One of the server's `revisions`. Default: the newest. */
  readonly revision?: string;
}

export interface CallerView {
  /** How the caller is known: its scopes and roles, if it has any. Absent for a caller that was refused. */
  readonly caller?: { readonly scopes: readonly string[]; readonly roles: readonly string[] };
  /** Why the caller gets no lists at all, such as an expired token. */
  readonly refused?: string;
  readonly lists: readonly CallerList[];
}

export interface CallerList {
  /** `extension methods` are listed by the explorer, as no request lists them. */
  readonly method:
    'tools/list' | 'prompts/list' | 'resources/list' | 'resources/templates/list' | 'extension methods';
  /** The entries as this caller gets them, after interceptors. */
  readonly entries: readonly Json[];
  /** What a model pays for each entry, as an estimate. Only for tools. */
  readonly tokens?: readonly number[];
  /** Empty for a list that is cut. */
  readonly missing: readonly MissingEntry[];
  /** True for a list with more pages than the explorer reads. */
  readonly isCut?: boolean;
  /** Why the caller does not get this list, if an interceptor refuses it. */
  readonly refused?: string;
}

export interface MissingEntry {
  readonly kind: Kind;
  readonly name: string;
  readonly by: 'guard' | 'scope' | 'interceptor' | 'token' | 'part';
  /** Name of the guard or interceptor, or the scopes that the caller lacks. */
  readonly names: readonly string[];
  /** A sentence, such as `@Visible(RolesGuard) hides it`. */
  readonly why: string;
}

/* ---- call ---- */

/** A round of a call, as a client of 2026-07-28. */
export interface CallRequest {
  readonly server: string;
  readonly caller: Exclude<Caller, { kind: 'made-up' }>;
  /** `tools/call`, `prompts/get`, `resources/read`, or a method of an extension. */
  readonly method: string;
  /** `{ name, arguments }`, `{ uri }`, or the params of a method. */
  readonly params: Json;
  /** Answers to the questions of the round before, by their keys. */
  readonly inputResponses?: Json;
  /** `requestState` of the round before. */
  readonly requestState?: string;
  /** True after the user confirmed it. A tool without `readOnlyHint`, or a method of an extension, is refused with status 409 otherwise. */
  readonly confirmed?: boolean;
}

/** A value that may be too long to show. */
export interface Shown {
  /** The value, if it is short enough. */
  readonly value?: unknown;
  /** The beginning of its JSON, if it is not. */
  readonly preview?: string;
  /** Characters of its JSON. */
  readonly size: number;
}

export interface CallTrace {
  /**
   * `asked`: answer the `questions` in another round. `task`: the call has become a task, or `tasks/get` has read one;
   * `questions`, `result` and `error` are those of the task.
   */
  readonly outcome: 'result' | 'error' | 'asked' | 'task';
  readonly status: number;
  readonly result?: Shown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Shown };
  readonly task?: TaskState;
  readonly questions: readonly Question[];
  readonly requestState?: string;
  /** The interceptors that ran, in starting order: for the request, the questions and the response. */
  readonly chain: readonly ChainRun[];
  readonly progress: readonly { readonly atMs: number; readonly text: string; readonly share?: number }[];
  /** Log messages that the handler sent to its client. */
  readonly logs: readonly { readonly atMs: number; readonly level: string; readonly text: string }[];
  /** W3C trace id, 32 hexadecimal digits. The call has it as `traceparent`. */
  readonly traceId: string;
  readonly durationMs: number;
}

/** A task, as its caller reads it. */
export interface TaskState {
  readonly id: string;
  readonly status: string;
  readonly statusMessage?: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastUpdatedAt: string;
  /** Milliseconds from `createdAt`. Absent for a task without an end. */
  readonly ttlMs?: number;
  readonly pollIntervalMs?: number;
}

export interface Question {
  readonly key: string;
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  /** For a form: `{ message, requestedSchema }`; for a page to visit: `{ mode: 'url', message, url }`. */
  readonly params: Json;
}

export interface ChainRun {
  readonly event: string;
  readonly phase: 'request' | 'response';
  readonly direction: 'send' | 'receive';
  readonly status: 'success' | 'validation_failed' | 'mutation_failed' | 'timeout';
  readonly turns: readonly TraceTurn[];
  readonly skipped: readonly { readonly id: string; readonly reason: string }[];
  readonly durationMs: number;
}

export interface TraceTurn {
  readonly id: string;
  readonly type: 'validation' | 'mutation';
  readonly mode: 'active' | 'audit';
  /** As in `Counters.outcomes`. */
  readonly outcome: string;
  readonly isFinal: boolean;
  /** The verdict of a validator. */
  readonly messages: readonly {
    readonly path?: string;
    readonly message: string;
    readonly severity: string;
  }[];
  /** Why it failed, or why its change was dropped. The message of an error is in the log of the application only. */
  readonly error?: string;
  /** The payload before and after a mutator that changed it, or would have. */
  readonly before?: Shown;
  readonly after?: Shown;
  readonly durationMs: number;
}

/* ---- views ---- */

/** Reads a view (SEP-1865), as a client of 2026-07-28. */
export interface ViewRequest {
  readonly server: string;
  readonly caller: Exclude<Caller, { kind: 'made-up' }>;
  readonly uri: string;
}

export interface AppView {
  /** Whole, whatever its length. */
  readonly html: string;
  /** `_meta.ui.csp` of the content. */
  readonly csp: Json;
}

/* ---- tasks ---- */

export interface TasksRequest {
  readonly server: string;
}

export interface Tasks {
  /**
   * The latest tasks of all callers that this node has created or runs, the latest first; at most 100. Absent if no extension
   * of the server has tasks.
   */
  readonly tasks?: readonly TaskRow[];
}

/** A task without its arguments, elicitations and result: only its caller reads those, by `tasks/get`. */
export interface TaskRow extends Pick<TaskState, 'id' | 'status' | 'statusMessage' | 'createdAt'> {
  readonly tool: string;
  readonly ttlMs: number;
  /** The number of elicitations that wait for an answer. */
  readonly questions: number;
}

/** Cancels a task of any caller. */
export interface CancelRequest {
  readonly server: string;
  readonly id: string;
}

/* ---- live ---- */

export interface Live {
  /** The latest first; at most 200. No arguments, results or tokens. */
  readonly calls: readonly LiveCall[];
  /** Since the application started. */
  readonly total: number;
  readonly servers: readonly LiveServer[];
}

export interface LiveCall {
  readonly id: number;
  /** ISO 8601. */
  readonly at: string;
  readonly server: string;
  /** `client`: the server asked a client. */
  readonly side: 'server' | 'client';
  readonly method: string;
  /** Name of the handler, if there is one of that name. */
  readonly name?: string;
  readonly era?: Era;
  /** `tool error`: a result with `isError`. `refused`: by a guard, a scope or an interceptor. */
  readonly outcome:
    'ok' | 'asked' | 'tool error' | 'error' | 'refused' | 'cancelled' | 'timeout' | 'shutdown';
  /** JSON-RPC code of an error. */
  readonly code?: number;
  readonly durationMs: number;
}

export interface LiveServer {
  readonly server: string;
  /** Counts of open items of clients, by a name for operators, such as `calls`, `questions`, `sessions`, `streams`. */
  readonly open: Readonly<Record<string, number>>;
  /** HTTP requests that were refused before they were read as calls, by status. */
  readonly refusals: Readonly<Record<string, number>>;
}

/* ---- findings ---- */

export interface Findings {
  readonly findings: readonly Finding[];
}

export interface Finding {
  readonly rule:
    | 'no-description'
    | 'long-description'
    | 'name'
    | 'no-annotations'
    | 'schema'
    | 'hook-never-matches'
    | 'unguarded';
  readonly server: string;
  /** Absent for a finding about an interceptor. */
  readonly kind?: Kind;
  /** Name of the handler or interceptor. */
  readonly subject: string;
  readonly message: string;
  readonly remedy: string;
}
