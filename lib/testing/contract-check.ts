import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

/** A check of a contract, for any test runner: `it(check.name, check.run)`. */
export interface ContractCheck {
  readonly name: string;
  /** @throws AssertionError if the implementation violates the contract */
  readonly run: () => Promise<void>;
}

/** Creates the checks of a contract. Each gets the stores or buses of two nodes. */
export const contractOf =
  <T>(checks: Readonly<Record<string, (one: T, other: T) => Promise<void>>>) =>
  (open: () => T | Promise<T>): ContractCheck[] =>
    Object.entries(checks).map(([name, check]) => ({
      name,
      run: async () => check(await open(), await open()),
    }));

/** Repeats a check until it holds, for up to 10 seconds. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, 'The entry still exists after 10 seconds');
    await pause(50);
  }
}
