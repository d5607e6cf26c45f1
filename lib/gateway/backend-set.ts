import type { Backend } from './backend.js';

/** The backends that can be reached, and why another cannot. */
export interface Reached {
  readonly backends: readonly Backend[];
  readonly problem?: Error;
}

/** Waits until each backend is known or cannot be reached. If no other could answer, it waits as long as that takes. */
export async function reach(
  backends: readonly Backend[],
  signal: AbortSignal,
  isOnly: boolean,
): Promise<Reached> {
  const results = await Promise.allSettled(
    backends.map(backend => (isOnly ? backend.ready(signal) : backend.readySoon(signal))),
  );
  return {
    backends: backends.filter((_, index) => results[index].status === 'fulfilled'),
    problem: results.find(one => one.status === 'rejected')?.reason as Error | undefined,
  };
}
