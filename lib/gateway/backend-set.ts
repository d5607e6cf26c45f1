import type { Backend } from './backend.js';

/** Waits until backends are known or cannot be reached: as long as it takes where no other would do. */
export function reachAll(
  backends: readonly Backend[],
  signal: AbortSignal,
  isOnly: boolean,
): Promise<PromiseSettledResult<unknown>[]> {
  return Promise.allSettled(
    backends.map(backend => (isOnly ? backend.ready(signal) : backend.readySoon(signal))),
  );
}
