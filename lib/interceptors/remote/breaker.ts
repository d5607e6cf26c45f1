import CircuitBreaker from 'opossum';
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
