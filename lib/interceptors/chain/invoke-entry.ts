import { UnavailableException } from '../../exceptions/unavailable.exception.js';
import { isThenable } from '../../util/async-iterable.js';
import { messageOf } from '../../util/message-of.js';
import { type Clock, DeadlineWatch } from './deadline.js';
import type { PreparedEntry } from './entry.js';
import { frozenConfig, frozenReport } from './frozen.js';
import { type ChainResult, type Invocation, reportOf } from './result.js';
import type { ChainOptions, ChainParams, SinkEnd } from './params.js';

export type Invoked =
  | { readonly kind: 'value'; readonly value: unknown; readonly durationMs: number }
  | { readonly kind: 'skipped' }
  | {
      readonly kind: 'failed';
      readonly why: 'crash' | 'timeout';
      readonly error: string;
      readonly isRunOver: boolean;
      readonly isUnavailable: boolean;
      readonly durationMs: number;
    };

/** The interceptor's own time has expired, here or on its host. */
export class InterceptorTimeout extends Error {}

class RunOver extends InterceptorTimeout {}

export interface RunContext extends Pick<
  Invocation,
  'event' | 'phase' | 'direction' | 'request' | 'context' | 'protocolVersion' | 'bag' | 'report'
> {
  readonly clock: Clock;
  readonly watch: DeadlineWatch;
  readonly deadline: number;
  readonly defaultTimeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly config?: ChainParams['config'];
}

class LazyInvocation implements Invocation {
  #controller?: AbortController;
  #ended?: Error;

  readonly name: string;
  readonly event: string;
  readonly phase: Invocation['phase'];
  readonly direction: Invocation['direction'];
  readonly request: unknown;
  readonly context: Invocation['context'];
  readonly protocolVersion: string | undefined;
  readonly bag: Map<unknown, unknown>;
  readonly report: Invocation['report'];
  readonly config: Invocation['config'];

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

  /**
   * @param name as in `AbortSignal`s: `TimeoutError` for the invocation's own time, `AbortError` for the end of the run
   */
  giveUp(reason: string, name: 'TimeoutError' | 'AbortError'): void {
    this.#ended = Object.assign(new Error(reason), { name });
    this.#controller?.abort(this.#ended);
  }
}

/** Checks own properties, because a remote host may use a name that every object inherits. */
function ownConfig(config: RunContext['config'], { configNames }: PreparedEntry) {
  if (config === undefined) return undefined;
  const name = configNames.findLast(one => Object.hasOwn(config, one));
  return name === undefined ? undefined : frozenConfig(config[name]);
}

/** Never throws, and stops waiting at the deadline. Returns a promise only if the interceptor returned a promise. */
export function invokeEntry(
  run: RunContext,
  entry: PreparedEntry,
  payload: unknown,
): Invoked | Promise<Invoked> {
  const started = run.clock.now();
  try {
    const allowed = Math.min(entry.timeoutMs ?? run.defaultTimeoutMs, run.maxTimeoutMs);
    const timeoutMs = Math.min(allowed, run.deadline - started);
    if (timeoutMs <= 0 || run.watch.isGivenUp) throw new RunOver('there was no time left');
    const invocation = new LazyInvocation(run, entry, payload, timeoutMs);
    const value = start(entry, invocation);
    if (!isThenable(value)) return ended(value, run, entry, payload, started);
    const isLast = allowed >= run.deadline - started;
    // Not read from the invocation, which the interceptor has.
    const given = { run, entry, payload, started, timeoutMs, isLast };
    return awaited(value, given, invocation);
  } catch (error) {
    return failed(error, run, started);
  }
}

interface Given {
  readonly run: RunContext;
  readonly entry: PreparedEntry;
  readonly payload: unknown;
  readonly started: number;
  readonly timeoutMs: number;
  /** Whether the time of the run ends first. */
  readonly isLast: boolean;
}

/** Apart from `invokeEntry`, whose closures would take longer than most interceptors. */
async function awaited(
  value: PromiseLike<unknown>,
  { run, entry, payload, started, timeoutMs, isLast }: Given,
  invocation: LazyInvocation,
): Promise<Invoked> {
  const giveUp = (isRunGivenUp: boolean) => {
    const reason = isRunGivenUp ? 'the run was given up' : `it took longer than ${Math.round(timeoutMs)} ms`;
    invocation.giveUp(reason, isRunGivenUp ? 'AbortError' : 'TimeoutError');
    return isRunGivenUp || isLast ? new RunOver(reason) : new InterceptorTimeout(reason);
  };
  try {
    return ended(await run.watch.within(value, started + timeoutMs, giveUp), run, entry, payload, started);
  } catch (error) {
    return failed(error, run, started);
  }
}

function ended(
  value: unknown,
  run: RunContext,
  entry: PreparedEntry,
  payload: unknown,
  started: number,
): Invoked {
  if (value === SKIPPED) return { kind: 'skipped' };
  const read = entry.read ? entry.read(value, entry.name, payload) : value;
  return { kind: 'value', value: read, durationMs: run.clock.now() - started };
}

const failed = (error: unknown, { clock }: RunContext, started: number): Invoked => ({
  kind: 'failed',
  why: error instanceof InterceptorTimeout ? 'timeout' : 'crash',
  error: messageOf(error instanceof UnavailableException ? error.cause : error),
  isRunOver: error instanceof RunOver,
  isUnavailable: error instanceof UnavailableException,
  durationMs: clock.now() - started,
});

const SKIPPED = Symbol('skipped');

function start(entry: PreparedEntry, invocation: LazyInvocation): unknown {
  const applies = entry.when?.(invocation) ?? true;
  if (!isThenable(applies)) return applies ? invoke(entry, invocation) : SKIPPED;
  // An interceptor that starts after its deadline would have no effect on the decision.
  return Promise.resolve(applies).then(result =>
    result && !invocation.isGivenUp ? invoke(entry, invocation) : SKIPPED,
  );
}

function invoke(entry: PreparedEntry, invocation: Invocation): unknown {
  const problem = entry.checkConfig?.(invocation.config ?? {});
  if (problem !== undefined) throw new Error(`its configuration is invalid: ${problem}`);
  return entry.invoke(invocation);
}

interface Fed extends Pick<ChainOptions, 'observeSink'> {
  readonly context: RunContext;
  readonly payload: unknown;
  readonly result: ChainResult;
}

/**
 * Passes the payload and a report to sinks, as read-only copies. The chain does not wait for sinks, and each sink has
 * its own time.
 */
export function feedSinks(
  sinks: readonly PreparedEntry[],
  { context, payload, result, observeSink }: Fed,
): void {
  const watch = new DeadlineWatch(context.clock);
  const own: RunContext = { ...context, watch, deadline: Infinity, report: frozenReport(reportOf(result)) };
  for (const entry of sinks) {
    const told = async () => {
      const end = observeSink?.(entry, result);
      const invoked = await invokeEntry(own, entry, payload);
      end?.(sinkEndOf(invoked));
    };
    // `observeSink` may fail; the other sinks continue.
    told().catch(() => undefined);
  }
}

function sinkEndOf(invoked: Invoked): SinkEnd {
  if (invoked.kind === 'skipped') return { outcome: 'skipped' };
  const { durationMs } = invoked;
  return invoked.kind === 'failed'
    ? { outcome: invoked.why, durationMs, error: invoked.error }
    : { outcome: 'recorded', durationMs };
}
