import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { EventStore, OfferedMessage, StoredEvent, StreamWrite } from '../stores/event-store.js';
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

/** A write of some events of one stream. */
const write = (...events: readonly StoredEvent[]): StreamWrite => ({ stream: events[0].stream, events });

const message = (json: string, key = json): OfferedMessage => ({ json, key });

export const eventStoreContract = contractOf<EventStore>({
  'a node finds what another has sent on a stream after an event, in its order and as it was': async (
    one,
    other,
  ) => {
    const session = randomUUID();
    await one.append(session, write({ stream: 'c.1', sequence: 1, json: MESSAGE }));
    await one.append(session, write(event(2), event(3)));
    for (let sequence = 4; sequence <= 12; sequence++) await one.append(session, write(event(sequence)));
    assert.deepEqual((await other.after(session, 'c.1', 0)).map(withoutMore), [
      { stream: 'c.1', sequence: 1, json: MESSAGE },
      ...[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map(sequence => event(sequence)),
    ]);
    assert.deepEqual((await other.after(session, 'c.1', 10)).map(withoutMore), [event(11), event(12)]);
    assert.deepEqual(await other.after(session, 'c.1', 12), []);
  },
  'streams and sessions are kept apart': async (one, other) => {
    const [session, foreign] = [randomUUID(), randomUUID()];
    await one.append(session, write(event(1)));
    await one.append(session, write(event(2, 'c.2')));
    await one.append(foreign, write(event(3)));
    assert.deepEqual((await other.after(session, 'c.1', 0)).map(withoutMore), [event(1)]);
    assert.deepEqual(await other.after(randomUUID(), 'c.1', 0), []);
  },
  'waiting messages are taken once, in order, on any node': async (one, other) => {
    const session = randomUUID();
    const sent = Array.from({ length: 50 }, (_, index) => `${index}`);
    for (const json of sent) await one.offer(session, [message(json)]);
    const takes = await Promise.all([one.take(session, 'l.1'), other.take(session, 'l.2')]);
    assert.deepEqual(
      takes.flat().map(({ json }) => json),
      sent,
    );
    assert.deepEqual(await one.take(session, 'l.1'), []);
  },
  'taken messages are on their stream, and their numbers grow': async (one, other) => {
    const session = randomUUID();
    await one.offer(session, [message('first')]);
    await one.take(session, 'l.1');
    await other.offer(session, [message('second'), message('third')]);
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
  'pushed messages are on their stream at once, with numbers that grow': async (one, other) => {
    const session = randomUUID();
    await one.offer(session, [message('taken')]);
    const events = [
      ...(await one.take(session, 'l.1')),
      ...(await other.push(session, 'l.1', [message('a'), message('b')])),
      ...(await one.push(session, 'l.1', [message('c')])),
    ];
    assert.deepEqual(
      events.map(({ json, stream }) => [stream, json]),
      ['taken', 'a', 'b', 'c'].map(json => ['l.1', json]),
    );
    const numbers = events.map(({ sequence }) => sequence);
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
    );
    assert.deepEqual((await other.after(session, 'l.1', 0)).map(withoutMore), events.map(withoutMore));
    assert.deepEqual(
      (await other.after(session, 'l.1', numbers[2])).map(({ json }) => json),
      ['c'],
    );
  },
  'only one of many messages with the same key is kept, on several nodes': async (one, other) => {
    const [session, foreign] = [randomUUID(), randomUUID()];
    const same = message('x', 'key');
    await Promise.all(
      Array.from({ length: 10 }, (_, index) => (index % 2 ? one : other).offer(session, [same])),
    );
    await one.offer(session, [message('y', 'another')]);
    await one.offer(foreign, [same]);
    assert.deepEqual(
      (await other.take(session, 'l.1')).map(({ json }) => json),
      ['x', 'y'],
    );
    await other.offer(session, [same]);
    assert.deepEqual(await one.take(session, 'l.1'), []);
    assert.deepEqual(await one.push(session, 'l.1', [same]), []);
    assert.deepEqual(
      (await other.push(session, 'l.1', [same, message('z')])).map(({ json }) => json),
      ['z'],
    );
  },
  'an open stream is known with its requests, until it is over': async (one, other) => {
    const session = randomUUID();
    assert.deepEqual([...(await one.openStreams(session))], []);
    await one.append(session, { ...write(event(1)), requests: [7, 'a'] });
    await one.append(session, { stream: 'c.2', events: [], requests: [8] });
    await one.append(session, write(event(2)));
    assert.deepEqual(Object.fromEntries(await other.openStreams(session)), { 'c.1': [7, 'a'], 'c.2': [8] });
    await one.append(session, { ...write(event(3)), isOver: true });
    assert.deepEqual(Object.fromEntries(await other.openStreams(session)), { 'c.2': [8] });
    assert.deepEqual((await other.after(session, 'c.1', 0)).map(withoutMore), [event(1), event(2), event(3)]);
    await other.delete(session);
    assert.deepEqual([...(await one.openStreams(session))], []);
  },
  'the events of a session are forgotten, including waiting messages': async (one, other) => {
    const session = randomUUID();
    await one.append(session, write(event(1)));
    await one.offer(session, [message('x')]);
    await other.delete(session);
    assert.deepEqual(await one.after(session, 'c.1', 0), []);
    assert.deepEqual(await one.take(session, 'l.1'), []);
  },
  'a flood of events is bounded, and the latest event is kept': async one => {
    const session = randomUUID();
    const numbers = Array.from({ length: FLOOD }, (_, index) => index + 1);
    for (let first = 0; first < FLOOD; first += AT_ONCE) {
      const some = numbers.slice(first, first + AT_ONCE);
      await Promise.all(some.map(sequence => one.append(session, write(event(sequence)))));
    }
    const kept = (await one.after(session, 'c.1', 0)).map(({ sequence }) => sequence);
    assert.ok(kept.length < FLOOD, 'every event is kept');
    assert.deepEqual(kept, numbers.slice(FLOOD - kept.length));
    assert.ok(kept.includes(FLOOD), 'the latest event is not kept');
  },
});

/** Drops further fields, which a store may add. */
const withoutMore = ({ stream, sequence, json }: StoredEvent): StoredEvent => ({ stream, sequence, json });
