import CircuitBreaker from 'opossum';
import { MAX_TIMER_MS } from '../../util/max-timer.js';
import type { HostPolicy } from './host-options.js';

export type HostBreaker = CircuitBreaker<[() => Promise<unknown>]>;

export function breakerOf(
  name: string,
  { errorPercentage = 50, volume = 5, resetMs = 10_000 }: HostPolicy['breaker'] = {},
): HostBreaker {
  return new CircuitBreaker((work: () => Promise<unknown>) => work(), {
    name,
    // The chain sets its own deadlines.
    timeout: false,
    errorThresholdPercentage: errorPercentage,
    volumeThreshold: volume,
    resetTimeout: resetMs,
    rollingPercentilesEnabled: false,
    errorFilter: isNoFaultOfTheHost,
  });
}

/** Excludes JSON-RPC errors, which come from a working host, and cancellations by the caller. */
const isNoFaultOfTheHost = (error: unknown): boolean =>
  error instanceof Error &&
  (typeof (error as { code?: unknown }).code === 'number' || error.name === 'AbortError');

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Lets the process end before the time limit. */
  release(): void;
  clear(): void;
}

/**
 * Unlike `AbortSignal.timeout`, it keeps the process running, so that a process that only waits for a host sees the
 * failure.
 */
export function timeLimit(ms: number): TimeLimit {
  const controller = new AbortController();
  const timeUp = () =>
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
  const timer = setTimeout(timeUp, Math.min(Math.max(0, Math.ceil(ms)), MAX_TIMER_MS));
  return {
    signal: controller.signal,
    release: () => void timer.unref(),
    clear: () => clearTimeout(timer),
  };
}
