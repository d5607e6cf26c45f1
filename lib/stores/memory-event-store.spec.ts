import fc from 'fast-check';
import type { StoredEvent } from './event-store.js';
import { MemoryEventStore } from './memory-event-store.js';

const write = (event: StoredEvent) => ({ stream: event.stream, events: [event] });

const BOUNDS = { maxEvents: 5, maxLength: 50, maxTotalLength: 80 };

const EVENT = fc.record({
  session: fc.constantFrom('a', 'b', 'c', 'd'),
  length: fc.integer({ min: 1, max: 60 }),
});

it('keeps the latest events of each stream within its bounds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(EVENT, { maxLength: 80 }), async events => {
      const store = new MemoryEventStore(BOUNDS);
      for (const [index, { session, length }] of events.entries()) {
        await store.append(session, write({ stream: 'c.1', sequence: index + 1, json: 'x'.repeat(length) }));
        expect(store.length).toBeLessThanOrEqual(BOUNDS.maxTotalLength);
      }
      const kept = await Promise.all(['a', 'b', 'c', 'd'].map(session => store.after(session, 'c.1', 0)));
      expect(kept.flat().reduce((sum, { json }) => sum + json.length, 0)).toBe(store.length);
      for (const [index, session] of ['a', 'b', 'c', 'd'].entries()) {
        const own = events.map((event, at) => ({ ...event, at })).filter(event => event.session === session);
        const latest = own.slice(own.length - kept[index].length).map(({ at }) => at + 1);
        expect(kept[index].map(({ sequence }) => sequence)).toEqual(latest);
        expect(kept[index].length).toBeLessThanOrEqual(BOUNDS.maxEvents);
      }
    }),
  );
});

describe('with a clock', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('forgets events after their time', async () => {
    const store = new MemoryEventStore({ ttlMs: 1000 });
    await store.append('a', write({ stream: 'c.1', sequence: 1, json: '1' }));
    jest.advanceTimersByTime(800);
    await store.append('a', write({ stream: 'c.1', sequence: 2, json: '2' }));
    jest.advanceTimersByTime(800);
    expect((await store.after('a', 'c.1', 0)).map(({ json }) => json)).toEqual(['2']);
    jest.advanceTimersByTime(800);
    expect(await store.after('a', 'c.1', 0)).toEqual([]);
    expect(store.length).toBe(0);
  });
});

it('tells streams and sessions apart, and deletes a session', async () => {
  const store = new MemoryEventStore();
  await store.append('a', write({ stream: 'c.1', sequence: 1, json: 'a1' }));
  await store.append('a', write({ stream: 'c.2', sequence: 1, json: 'a2' }));
  await store.append('b', write({ stream: 'c.1', sequence: 1, json: 'b1' }));
  expect(await store.after('a', 'c.2', 0)).toEqual([expect.objectContaining({ json: 'a2' })]);
  expect(await store.after('a', 'c.1', 1)).toEqual([]);
  await store.delete('a');
  expect(await store.after('a', 'c.1', 0)).toEqual([]);
  expect(store.length).toBe(2);
});

it('keeps the latest event of a session, whatever its length', async () => {
  const store = new MemoryEventStore({ maxEvents: 3, maxLength: 10 });
  await store.append('a', write({ stream: 'c.1', sequence: 1, json: '1' }));
  await store.append('a', write({ stream: 'c.1', sequence: 2, json: 'x'.repeat(100) }));
  expect((await store.after('a', 'c.1', 0)).map(({ sequence }) => sequence)).toEqual([2]);
});

it('drops the events of the caller that holds the most, however many sessions it has', async () => {
  const store = new MemoryEventStore({ maxTotalLength: 100 });
  const event = { stream: 'c.1', sequence: 1, json: 'x'.repeat(10) };
  await store.append('quiet', write(event), 'jo');
  await store.offer('quiet', [{ json: 'waiting', key: 'w' }], 'jo');
  for (let index = 0; index < 50; index++) {
    await store.append(`greedy ${index % 25}`, write({ ...event, sequence: index }), 'eve');
    await store.offer(`greedy ${index % 25}`, [{ json: 'waiting', key: `${index}` }], 'eve');
  }
  expect(await store.after('quiet', 'c.1', 0)).toHaveLength(1);
  expect(await store.take('quiet', 'l.1')).toHaveLength(1);
  expect(await store.after('greedy 24', 'c.1', 0)).toEqual([expect.objectContaining({ sequence: 49 })]);
  expect(store.length).toBeLessThanOrEqual(100);
});

it('keeps the events of each caller that holds no more than its share', async () => {
  const CALL = fc.record({ caller: fc.nat(3), session: fc.nat(2), length: fc.integer({ min: 1, max: 60 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(CALL, { maxLength: 60 }), async calls => {
      const store = new MemoryEventStore({ maxTotalLength: 80 });
      const sent = [0, 0, 0, 0];
      for (const [index, { caller, session, length }] of calls.entries()) {
        const event = { stream: 'c.1', sequence: index + 1, json: 'x'.repeat(length) };
        await store.append(`${caller}/${session}`, write(event), `${caller}`);
        sent[caller] += length;
      }
      for (const [caller, length] of sent.entries()) {
        if (length > 20) continue;
        const kept = await Promise.all(
          [0, 1, 2].map(session => store.after(`${caller}/${session}`, 'c.1', 0)),
        );
        expect(kept.flat()).toHaveLength(calls.filter(call => call.caller === caller).length);
      }
    }),
  );
});
