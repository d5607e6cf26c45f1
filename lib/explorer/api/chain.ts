import type { Era } from './shared.js';

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
