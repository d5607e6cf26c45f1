import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { EventStore, StoredEvent } from '../stores/event-store.js';
import { contractOf } from './contract-check.js';

const MESSAGE = JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { data: 'é\u{1f642}\n' },
});

/** More events than any store has to keep. */
const FLOOD = 3000;
const AT_ONCE = 100;

const event = (sequence: number, stream = 'c.1'): StoredEvent => ({
  stream,
  sequence,
  json: `${sequence}`,
});

export const eventStoreContract = contractOf<EventStore>({
  'a node finds what another has sent on a stream after an event, in its order and as it was': async (
    one,
    other,
  ) => {
    const session = randomUUID();
    await one.append(session, { stream: 'c.1', sequence: 1, json: MESSAGE });
    for (let sequence = 2; sequence <= 12; sequence++) await one.append(session, event(sequence));
    assert.deepEqual((await other.after(session, 'c.1', 0)).map(withoutMore), [
      { stream: 'c.1', sequence: 1, json: MESSAGE },
      ...[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map(sequence => event(sequence)),
    ]);
    assert.deepEqual((await other.after(session, 'c.1', 10)).map(withoutMore), [event(11), event(12)]);
    assert.deepEqual(await other.after(session, 'c.1', 12), []);
  },
  'streams and sessions are kept apart': async (one, other) => {
    const [session, foreign] = [randomUUID(), randomUUID()];
    await one.append(session, event(1));
    await one.append(session, event(2, 'c.2'));
    await one.append(foreign, event(3));
    assert.deepEqual((await other.after(session, 'c.1', 0)).map(withoutMore), [event(1)]);
    assert.deepEqual(await other.after(randomUUID(), 'c.1', 0), []);
  },
  'waiting messages are taken once, in order, on any node': async (one, other) => {
    const session = randomUUID();
    const sent = Array.from({ length: 50 }, (_, index) => `${index}`);
    for (const json of sent) assert.equal(await one.offer(session, json), true);
    const takes = await Promise.all([one.take(session, 'l.1'), other.take(session, 'l.2')]);
    assert.deepEqual(
      takes.flat().map(({ json }) => json),
      sent,
    );
    assert.deepEqual(await one.take(session, 'l.1'), []);
  },
  'taken messages are on their stream, and their numbers grow': async (one, other) => {
    const session = randomUUID();
    await one.offer(session, 'first');
    await one.take(session, 'l.1');
    await other.offer(session, 'second');
    await other.offer(session, 'third');
    await other.take(session, 'l.1');
    const events = await one.after(session, 'l.1', 0);
    assert.deepEqual(
      events.map(({ json, stream }) => [stream, json]),
      [
        ['l.1', 'first'],
        ['l.1', 'second'],
        ['l.1', 'third'],
      ],
    );
    const numbers = events.map(({ sequence }) => sequence);
    assert.ok(numbers[0] < numbers[1] && numbers[1] < numbers[2], `${numbers.join()} do not grow`);
    assert.deepEqual(
      (await other.after(session, 'l.1', numbers[1])).map(({ json }) => json),
      ['third'],
    );
  },
  'only one of many messages with the same key is kept, on several nodes': async (one, other) => {
    const [session, foreign] = [randomUUID(), randomUUID()];
    const offers = Array.from({ length: 10 }, (_, index) =>
      (index % 2 ? one : other).offer(session, 'x', 'key'),
    );
    assert.equal((await Promise.all(offers)).filter(isKept => isKept).length, 1);
    assert.equal(await one.offer(session, 'y', 'another'), true);
    assert.equal(await one.offer(foreign, 'x', 'key'), true);
    assert.deepEqual(
      (await other.take(session, 'l.1')).map(({ json }) => json),
      ['x', 'y'],
    );
    assert.equal(await other.offer(session, 'x', 'key'), false);
  },
  'the events of a session are forgotten, including waiting messages': async (one, other) => {
    const session = randomUUID();
    await one.append(session, event(1));
    await one.offer(session, 'x');
    await other.delete(session);
    assert.deepEqual(await one.after(session, 'c.1', 0), []);
    assert.deepEqual(await one.take(session, 'l.1'), []);
  },
  'a flood of events is bounded, and the latest event is kept': async one => {
    const session = randomUUID();
    const numbers = Array.from({ length: FLOOD }, (_, index) => index + 1);
    for (let first = 0; first < FLOOD; first += AT_ONCE) {
      const some = numbers.slice(first, first + AT_ONCE);
      await Promise.all(some.map(sequence => one.append(session, event(sequence))));
    }
    const kept = (await one.after(session, 'c.1', 0)).map(({ sequence }) => sequence);
    assert.ok(kept.length < FLOOD, 'every event is kept');
    assert.deepEqual(kept, numbers.slice(FLOOD - kept.length));
    assert.ok(kept.includes(FLOOD), 'the latest event is not kept');
  },
});

/** Drops further fields, which a store may add. */
const withoutMore = ({ stream, sequence, json }: StoredEvent): StoredEvent => ({ stream, sequence, json });
