import type { InvocationContext, Direction, Phase } from '../protocol/types.js';
import type { Clock } from './clock.js';
import type { DeadlineWatch } from './deadline.js';
import type { Invocation, PreparedEntry } from './entry.js';
import type { ChainResult } from './result.js';

/** How one invocation ended: with something the interceptor said, without, or it did not apply. */
export type Attempt =
  | { readonly kind: 'value'; readonly value: unknown; readonly durationMs: number }
  | { readonly kind: 'skipped' }
  | {
      readonly kind: 'failed';
      readonly why: 'crash' | 'timeout';
      readonly error: string;
      readonly durationMs: number;
    };

/** What the attempts of one run share. */
export interface RunContext {
  readonly event: string;
  readonly phase: Phase;
  readonly direction: Direction;
  readonly request?: unknown;
  readonly context?: InvocationContext;
  readonly bag: Map<unknown, unknown>;
  /** For sinks. */
  readonly report?: ChainResult;
  readonly clock: Clock;
  readonly watch: DeadlineWatch;
  /** When the whole run must have ended, on the clock. */
  readonly deadline: number;
  /** Whether the whole run has been given up. */
  readonly isGivenUp: () => boolean;
  /** What an attempt may take where its entry does not say, in milliseconds. */
  readonly defaultTimeoutMs: number;
  /** What an attempt may take whatever its entry says. */
  readonly maxTimeoutMs: number;
  /** The run's own configuration, by the interceptor's name; it wins over an override's. */
  readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** One invocation. Its signal exists only once somebody asks for it. */
class LazyInvocation implements Invocation {
  #controller?: AbortController;
  #ended?: Error;

  readonly name: string;
  readonly event: string;
  readonly phase: Phase;
  readonly direction: Direction;
  readonly request: unknown;
  readonly context: InvocationContext | undefined;
  readonly bag: Map<unknown, unknown>;
  readonly report: ChainResult | undefined;
  readonly config: Readonly<Record<string, unknown>> | undefined;

  constructor(
    run: RunContext,
    entry: PreparedEntry,
    readonly payload: unknown,
    readonly timeoutMs: number,
  ) {
    this.name = entry.name;
    this.event = run.event;
    this.phase = run.phase;
    this.direction = run.direction;
    this.request = run.request;
    this.context = run.context;
    this.bag = run.bag;
    this.report = run.report;
    this.config = run.config?.[entry.name] ?? entry.config;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#ended) this.#controller.abort(this.#ended);
    return this.#controller.signal;
  }

  giveUp(reason: string): void {
    this.#ended = new Error(reason);
    this.#controller?.abort(this.#ended);
  }
}

/**
 * Runs an interceptor once: its condition, its configuration check, then the interceptor itself. It never throws, and
 * when time is up it stops waiting, whatever the interceptor does: what settles later is nobody's concern any more.
 * An interceptor that answers at once costs no timer and no promise.
 */
export function attempt(
  run: RunContext,
  prepared: PreparedEntry,
  payload: unknown,
): Attempt | Promise<Attempt> {
  const { clock } = run;
  const started = clock.now();
  const allowed = Math.min(prepared.timeoutMs ?? run.defaultTimeoutMs, run.maxTimeoutMs);
  const timeoutMs = Math.max(0, Math.min(allowed, run.deadline - started));
  if (run.isGivenUp() || timeoutMs === 0) return failure('timeout', 'there was no time left', 0);
  const invocation = new LazyInvocation(run, prepared, payload, timeoutMs);
  const ended = (value: unknown): Attempt =>
    value === SKIPPED ? { kind: 'skipped' } : { kind: 'value', value, durationMs: clock.now() - started };
  const crashed = (error: unknown) => failure('crash', messageOf(error), clock.now() - started);

  let value: unknown;
  try {
    value = start(prepared, invocation);
  } catch (error) {
    return crashed(error);
  }
  if (!isThenable(value)) return ended(value);

  return new Promise(resolve => {
    const giveUp = (error: string) => {
      settle(failure('timeout', error, clock.now() - started));
      invocation.giveUp(error);
    };
    const unwatch = run.watch.at(started + timeoutMs, givenUp =>
      giveUp(givenUp ? 'the run was given up' : `it took longer than ${Math.round(timeoutMs)} ms`),
    );
    const settle = (result: Attempt) => {
      unwatch();
      resolve(result);
    };
    value.then(
      result => settle(ended(result)),
      (error: unknown) => settle(crashed(error)),
    );
  });
}

const SKIPPED = Symbol('skipped');

function start(prepared: PreparedEntry, invocation: Invocation): unknown {
  const applies = prepared.traits.when?.(invocation) ?? true;
  if (isThenable(applies)) {
    return applies.then(result => (result === true ? invoke(prepared, invocation) : SKIPPED));
  }
  return applies ? invoke(prepared, invocation) : SKIPPED;
}

function invoke({ entry }: PreparedEntry, invocation: Invocation): unknown {
  const problem = entry.checkConfig?.(invocation.config ?? {});
  if (problem !== undefined) throw new Error(`its configuration is invalid: ${problem}`);
  return entry.invoke(invocation);
}

const failure = (why: 'crash' | 'timeout', error: string, durationMs: number): Attempt => ({
  kind: 'failed',
  why,
  error,
  durationMs,
});

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<PromiseLike<unknown>>).then === 'function';
