import CircuitBreaker from 'opossum';
import type { HostPolicy } from './host-options.js';

const DEFAULTS = { errorPercentage: 50, volume: 5, resetMs: 10_000 };

/** Calls a host while it is worth it: not past its concurrency limit, and not while it keeps failing. */
export class HostBreaker {
  private readonly breaker: CircuitBreaker<[() => Promise<unknown>]>;
  private running = 0;

  constructor(
    name: string,
    private readonly maxConcurrent: number,
    breaker: HostPolicy['breaker'],
  ) {
    const { errorPercentage, volume, resetMs } = { ...DEFAULTS, ...breaker };
    this.breaker = new CircuitBreaker((work: () => Promise<unknown>) => work(), {
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

  async run(work: () => Promise<unknown>): Promise<unknown> {
    // Opossum's own `capacity` would count it as a failure of the host that it was asked too often.
    if (this.running >= this.maxConcurrent) {
      throw new Error(`${this.maxConcurrent} invocations of it run already ("maxConcurrent")`);
    }
    this.running++;
    try {
      return await this.breaker.fire(work);
    } finally {
      this.running--;
    }
  }

  close(): void {
    this.breaker.shutdown();
  }
}

/** A JSON-RPC error comes from a working host, and a caller may go away. */
const isNoFaultOfTheHost = (error: unknown): boolean =>
  error instanceof Error &&
  (typeof (error as { code?: unknown }).code === 'number' || error.name === 'AbortError');
