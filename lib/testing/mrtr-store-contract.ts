import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { MrtrStore } from '../stores/mrtr-store.js';
import { contractOf, until } from './contract-check.js';

/** Lifetime in seconds, long enough for a check that does not test expiry. */
const LONG = 600;

/** The length of the longest state that servers keep by default, in characters. */
const LARGEST = 1_048_576;

export const mrtrStoreContract = contractOf<MrtrStore>({
  'a node finds a value that another node has set': async (one, other) => {
    const key = randomUUID();
    await one.set(key, 'é€\u{1f642}\n"', LONG);
    assert.equal(await other.get(key), 'é€\u{1f642}\n"');
  },
  'an unknown key has no value': async one => {
    assert.equal(await one.get(randomUUID()), undefined);
  },
  'a value of 1 MiB is kept whole': async (one, other) => {
    const key = randomUUID();
    const value = '0123456789abcdef'.repeat(LARGEST / 16);
    await one.set(key, value, LONG);
    assert.ok((await other.get(key)) === value);
  },
  'a second value of a key replaces the first': async (one, other) => {
    const key = randomUUID();
    await one.set(key, 'first', LONG);
    await other.set(key, 'second', LONG);
    assert.equal(await one.get(key), 'second');
  },
  'a value is gone when its time is over': async one => {
    const key = randomUUID();
    await one.set(key, 'short', 1);
    await until(async () => (await one.get(key)) === undefined);
  },
  'only one of many claims of a key at the same time, on several nodes, is the first': async (one, other) => {
    const key = randomUUID();
    const claims = Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).claim(key, LONG));
    assert.equal((await Promise.all(claims)).filter(isFirst => isFirst).length, 1);
    assert.equal(await one.claim(key, LONG), false);
    assert.equal(await one.claim(randomUUID(), LONG), true);
  },
  'a claim is forgotten when its time is over': async one => {
    const key = randomUUID();
    assert.equal(await one.claim(key, 1), true);
    await until(() => one.claim(key, 1));
  },
});
