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
    // The chain has timeouts of its own.
    timeout: false,
    errorThresholdPercentage: errorPercentage,
    volumeThreshold: volume,
    resetTimeout: resetMs,
    rollingPercentilesEnabled: false,
    errorFilter: isNoFaultOfTheHost,
  });
}

/** A JSON-RPC error comes from a working host, and a caller may go away. */
const isNoFaultOfTheHost = (error: unknown): boolean =>
  error instanceof Error &&
  (typeof (error as { code?: unknown }).code === 'number' || error.name === 'AbortError');

export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Lets the process end although the time is not up. */
  release(): void;
  clear(): void;
}

/** Unlike `AbortSignal.timeout`, keeps the process alive, so that a process that only waits for a host sees it fail. */
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
