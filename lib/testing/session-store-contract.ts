import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { SessionStore } from '../stores/session-store.js';
import { contractOf, until } from './contract-check.js';

/** Lifetime in milliseconds, long enough for a check that does not test expiry. */
const LONG = 600_000;

export const sessionStoreContract = contractOf<SessionStore>({
  'a node finds a session that another node has created': async (one, other) => {
    const id = randomUUID();
    const fields = { v: '1', 'sub:é\u{1f642}:/x y': '', text: '{"a":"\\n"}' };
    await one.create(id, fields, LONG);
    assert.deepEqual(await other.read(id), fields);
  },
  'an unknown session does not exist, and an update does not create it': async one => {
    const id = randomUUID();
    assert.equal(await one.read(id), undefined);
    assert.equal(await one.update(id, { level: 'info' }, LONG), false);
    assert.equal(await one.read(id), undefined);
  },
  'a session that is created again has only the new fields': async (one, other) => {
    const id = randomUUID();
    await one.create(id, { a: '1', b: '1' }, LONG);
    await other.create(id, { b: '2' }, LONG);
    assert.deepEqual(await one.read(id), { b: '2' });
  },
  'simultaneous updates from several nodes are all kept, field by field': async (one, other) => {
    const id = randomUUID();
    await one.create(id, { v: '1', gone: 'x' }, LONG);
    const names = Array.from({ length: 40 }, (_, index) => `sub:${index}`);
    const updates = names.map((name, index) =>
      (index % 2 ? one : other).update(id, { [name]: '', gone: undefined }, LONG),
    );
    assert.deepEqual(
      await Promise.all(updates),
      names.map(() => true),
    );
    const kept = Object.keys((await one.read(id)) ?? {});
    assert.deepEqual(kept.sort(), ['v', ...names].sort());
  },
  'an update that expects other fields changes nothing, and of several at the same moment, one does': async (
    one,
    other,
  ) => {
    const id = randomUUID();
    await one.create(id, { owner: '' }, LONG);
    const claims = ['a', 'b', 'c', 'd'].map((owner, index) =>
      (index % 2 ? one : other).update(id, { owner, [`sub:${owner}`]: '' }, LONG, { owner: '' }),
    );
    const isWon = await Promise.all(claims);
    const winner = ['a', 'b', 'c', 'd'][isWon.indexOf(true)];
    assert.deepEqual(isWon.filter(Boolean), [true]);
    assert.deepEqual(await one.read(id), { owner: winner, [`sub:${winner}`]: '' });
    assert.equal(await one.update(id, { level: 'info' }, LONG, { owner: winner, absent: '' }), false);
    assert.equal(await one.update(id, { level: 'info' }, LONG, { owner: winner }), true);
  },
  'every node forgets a deleted session': async (one, other) => {
    const id = randomUUID();
    await one.create(id, { v: '1' }, LONG);
    await other.delete(id);
    assert.equal(await one.read(id), undefined);
    await other.delete(id);
  },
  'a session expires after its lifetime, which an update restarts': async (one, other) => {
    const [brief, kept] = [randomUUID(), randomUUID()];
    await one.create(brief, { v: '1' }, 200);
    await one.create(kept, { v: '1' }, 200);
    assert.equal(await other.update(kept, {}, LONG), true);
    await until(async () => (await other.read(brief)) === undefined);
    assert.deepEqual(await other.read(kept), { v: '1' });
  },
});
