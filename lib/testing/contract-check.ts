import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

/** A check of a contract, for any test runner: `it(check.name, check.run)`. */
export interface ContractCheck {
  readonly name: string;
  /** @throws AssertionError if the implementation violates the contract */
  readonly run: () => Promise<void>;
}

/** Repeats a check until it holds, for up to 10 seconds. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, 'The entry still exists after 10 seconds');
    await pause(50);
  }
}
