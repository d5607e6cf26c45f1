import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { MemoryEventStore } from '../../protocol/event-store.js';
import { SessionStreams } from './session-streams.js';

/** A response whose client reads when it is told to. */
class FakeResponse extends EventEmitter {
  readonly text: string[] = [];
  writableEnded = false;
  destroyed = false;
  writableLength = 0;

  writeHead(): this {
    return this;
  }

  flushHeaders(): void {}

  write(text: string): boolean {
    this.text.push(text);
    return true;
  }

  end(): void {
    this.writableEnded = true;
    this.emit('close');
  }

  cut(): void {
    this.destroyed = true;
    this.emit('close');
  }

  /** The client stops reading, or reads again. */
  stall(isStalled: boolean): void {
    this.writableLength = isStalled ? Infinity : 0;
    if (!isStalled) this.emit('drain');
  }

  get ids(): string[] {
    return this.text.flatMap(text => /^id: (.*)$/m.exec(text)?.[1] ?? []);
  }

  get events(): { id: string; data: string }[] {
    return this.text.flatMap(text => {
      const [, id, data] = /^event: message\nid: (.*)\ndata: (.*)\n\n$/.exec(text) ?? [];
      return id === undefined ? [] : [{ id, data }];
    });
  }
}

const settled = () => new Promise(resolve => setImmediate(resolve));

const open = () => {
  const store = new MemoryEventStore();
  const reported: Error[] = [];
  const streams = new SessionStreams({
    session: 's',
    headers: {},
    keepAliveMs: 0,
    store,
    isPrimed: () => true,
    report: error => reported.push(error),
  });
  const listen = (id?: string) => {
    const response = new FakeResponse();
    streams.listen(response as unknown as ServerResponse, id);
    return response;
  };
  return { streams, store, reported, listen };
};

const STEPS = [
  'send',
  'send',
  'send',
  'read',
  'settle',
  'stall',
  'drain',
  'cut',
  'cut unread',
  'resume',
] as const;

it('gives a client that comes back every message, once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { maxLength: 60 }), async steps => {
      const { streams, listen, reported } = open();
      const got: string[] = [];
      let sent = 0;
      let response = listen();
      let [last] = response.ids;
      let count = 0;
      const read = () => {
        for (const { id, data } of response.events.slice(count)) {
          got.push(data);
          last = id;
        }
        count = response.events.length;
      };
      const resume = () => {
        response = listen(last);
        count = 0;
      };
      const does: Record<(typeof STEPS)[number], () => unknown> = {
        send: () => streams.send(String((sent += 1))),
        read,
        settle: settled,
        stall: () => response.stall(true),
        drain: () => response.stall(false),
        cut() {
          read();
          response.cut();
        },
        // What was written and not read is lost on its way.
        'cut unread': () => response.cut(),
        resume,
      };
      for (const step of steps) await does[step]();
      response.stall(false);
      await settled();
      // Whoever is connected and reads gets all without coming back.
      if (!response.destroyed) expect(response.events.at(-1)?.data ?? String(sent)).toBe(String(sent));
      resume();
      await settled();
      read();
      expect(reported).toEqual([]);
      expect(got).toEqual(Array.from({ length: sent }, (_, index) => String(index + 1)));
    }),
    { numRuns: 300 },
  );
});

it('keeps a bounded number of streams that nobody reads', async () => {
  const { listen, streams } = open();
  const first = listen();
  streams.send('"one"');
  first.cut();
  for (let index = 0; index < 200; index++) listen().cut();
  const resumed = listen('1-0');
  await settled();
  expect(resumed.events).toEqual([]);
});

it('reports a store that fails, and goes on', async () => {
  const { streams, store, reported, listen } = open();
  jest.spyOn(store, 'append').mockRejectedValueOnce(new Error('full'));
  const response = listen();
  streams.send('1');
  streams.send('2');
  await settled();
  expect(reported).toEqual([new Error('full')]);
  expect(response.events.map(({ data }) => data)).toEqual(['1', '2']);
});
