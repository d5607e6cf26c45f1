import type { InvocationContext, Direction, Phase } from '../protocol/types.js';
import type { Clock } from './clock.js';
import type { DeadlineWatch, Watched } from './deadline.js';
import type { Invocation, PreparedEntry } from './entry.js';
import { frozenConfig } from './frozen.js';
import type { ChainResult } from './result.js';

/** How one invocation ended: with something the interceptor said, without, or it did not apply. */
export type Attempt =
  | { readonly kind: 'value'; readonly value: unknown; readonly durationMs: number }
  | { readonly kind: 'skipped' }
  | Failed;

export interface Failed {
  readonly kind: 'failed';
  readonly why: 'crash' | 'timeout';
  readonly error: string;
  /** Whether it was not the interceptor's own time that was up, but that of the whole run. */
  readonly isRunOver: boolean;
  readonly durationMs: number;
}

/** An interceptor ran out of time where it runs, and says so itself. */
export class InterceptorTimeout extends Error {}

/** What the attempts of one run share. */
export interface RunContext {
  readonly event: string;
  readonly phase: Phase;
  readonly direction: Direction;
  readonly request?: unknown;
  readonly context?: InvocationContext;
  readonly protocolVersion?: string;
  readonly bag: Map<unknown, unknown>;
  /** For sinks. */
  readonly report?: ChainResult;
  readonly clock: Clock;
  readonly watch: DeadlineWatch;
  /** When the whole run must have ended, on the clock. */
  readonly deadline: number;
  /** What an attempt may take where its entry does not say, in milliseconds. */
  readonly defaultTimeoutMs: number;
  /** What an attempt may take whatever its entry says. */
  readonly maxTimeoutMs: number;
  /** The run's own configuration, by `name` or `host/name`; it wins over an override's. */
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
  readonly protocolVersion: string | undefined;
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
    this.protocolVersion = run.protocolVersion;
    this.bag = run.bag;
    this.report = run.report;
    this.config = ownConfig(run.config, entry) ?? entry.config;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#ended) this.#controller.abort(this.#ended);
    return this.#controller.signal;
  }

  get isGivenUp(): boolean {
    return this.#ended !== undefined;
  }

  /** @param name tells the invocation's own time from an end of the whole run, as `AbortSignal`s do */
  giveUp(reason: string, name: 'TimeoutError' | 'AbortError'): void {
    this.#ended = Object.assign(new Error(reason), { name });
    this.#controller?.abort(this.#ended);
  }
}

/** Names are remote hosts' to choose: one of them may be a member of every object. */
function ownConfig(config: RunContext['config'], { configNames }: PreparedEntry) {
  if (config === undefined) return undefined;
  const name = configNames.findLast(one => Object.hasOwn(config, one));
  return name === undefined ? undefined : frozenConfig(config[name]);
}

/**
 * Runs an interceptor once: its condition, its configuration check, then the interceptor itself. It never throws, and
 * when time is up it stops waiting, whatever the interceptor does: what settles later is nobody's concern any more.
 * An interceptor that answers at once costs no timer and no promise.
 * @param started the time on the run's clock
 */
export function attempt(
  run: RunContext,
  prepared: PreparedEntry,
  payload: unknown,
  started = run.clock.now(),
): Attempt | Promise<Attempt> {
  const allowed = Math.min(prepared.timeoutMs ?? run.defaultTimeoutMs, run.maxTimeoutMs);
  const left = run.deadline - started;
  const endsRun = allowed >= left;
  const timeoutMs = endsRun ? left : allowed;
  if (timeoutMs <= 0 || run.watch.isGivenUp) return timeout('there was no time left', true, 0);
  try {
    const invocation = new LazyInvocation(run, prepared, payload, timeoutMs);
    const value = start(prepared, invocation);
    if (!isThenable(value)) return ended(run, prepared, payload, value, started);
    const deadline = endsRun ? run.deadline : started + allowed;
    const running = { run, prepared, payload, invocation, started, timeoutMs, deadline, endsRun };
    return new Waiting(running, Promise.resolve(value)).outcome;
  } catch (error) {
    return crashed(run, error, started);
  }
}

/** What is known of an invocation without asking it: an interceptor can write to what it is given. */
interface Running {
  readonly run: RunContext;
  readonly prepared: PreparedEntry;
  readonly payload: unknown;
  readonly invocation: LazyInvocation;
  readonly started: number;
  readonly timeoutMs: number;
  /** When its time is up, on the clock. */
  readonly deadline: number;
  /** Whether that is the end of the whole run's time, too. */
  readonly endsRun: boolean;
}

/** An invocation that did not answer at once. It ends when it settles, or when its time is up. */
class Waiting implements Watched {
  readonly deadline: number;
  readonly outcome: Promise<Attempt>;
  isEnded = false;
  private resolve!: (outcome: Attempt) => void;

  constructor(
    private readonly running: Running,
    value: Promise<unknown>,
  ) {
    const { run, prepared, payload, started, deadline } = running;
    this.deadline = deadline;
    this.outcome = new Promise(resolve => (this.resolve = resolve));
    // First of all: a promise can have a `then` of its own, and it may throw.
    void value.then(
      settled => this.end(ended(run, prepared, payload, settled, started)),
      (error: unknown) => this.end(crashed(run, error, started)),
    );
    run.watch.add(this);
  }

  giveUp(): void {
    const { run, invocation, started, timeoutMs, endsRun } = this.running;
    const { isGivenUp } = run.watch;
    const error = isGivenUp ? 'the run was given up' : `it took longer than ${Math.round(timeoutMs)} ms`;
    this.end(timeout(error, isGivenUp || endsRun, run.clock.now() - started));
    invocation.giveUp(error, isGivenUp ? 'AbortError' : 'TimeoutError');
  }

  private end(outcome: Attempt): void {
    this.isEnded = true;
    this.resolve(outcome);
  }
}

const SKIPPED = Symbol('skipped');

function start(prepared: PreparedEntry, invocation: LazyInvocation): unknown {
  const applies = prepared.when?.(invocation) ?? true;
  if (isThenable(applies)) {
    // Nobody would learn what an interceptor came to that is asked after its time.
    return Promise.resolve(applies).then(result =>
      result && !invocation.isGivenUp ? invoke(prepared, invocation) : SKIPPED,
    );
  }
  return applies ? invoke(prepared, invocation) : SKIPPED;
}

function invoke(prepared: PreparedEntry, invocation: Invocation): unknown {
  const problem = prepared.checkConfig?.(invocation.config ?? {});
  if (problem !== undefined) throw new Error(`its configuration is invalid: ${problem}`);
  return prepared.invoke(invocation);
}

function ended(
  run: RunContext,
  prepared: PreparedEntry,
  payload: unknown,
  value: unknown,
  started: number,
): Attempt {
  if (value === SKIPPED) return { kind: 'skipped' };
  try {
    const read = prepared.read ? prepared.read(value, prepared.name, payload) : value;
    return { kind: 'value', value: read, durationMs: run.clock.now() - started };
  } catch (error) {
    return crashed(run, error, started);
  }
}

const crashed = ({ clock }: RunContext, error: unknown, started: number): Attempt => ({
  kind: 'failed',
  why: error instanceof InterceptorTimeout ? 'timeout' : 'crash',
  error: messageOf(error),
  isRunOver: false,
  durationMs: clock.now() - started,
});

/** What was thrown need not be an error, nor even something that can be told. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'it threw something that cannot be described';
  }
}

const timeout = (error: string, isRunOver: boolean, durationMs: number): Attempt => ({
  kind: 'failed',
  why: 'timeout',
  error,
  isRunOver,
  durationMs,
});

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<PromiseLike<unknown>>).then === 'function';
