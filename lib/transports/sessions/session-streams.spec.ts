import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { deferred } from '../../../test/fixtures/deferred.js';
import { MemoryEventStore } from '../../stores/memory-event-store.js';
import type { PeerMessage, Peers } from './peers.js';
import { SessionStreams } from './session-streams.js';
import { SharedStreams } from './shared-streams.js';

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
    if (this.writableEnded) throw new Error('write after end');
    this.text.push(text);
    return true;
  }

  end(): void {
    this.writableEnded = true;
    setImmediate(() => this.emit('close'));
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

/** The streams of one session on so many nodes. */
const open = (count = 1, others: Partial<Peers> = {}) => {
  const store = new MemoryEventStore();
  const reported: Error[] = [];
  const nodes: SessionStreams[] = [];
  let numbers = 0;
  let home = 0;
  const nameOf = (node: number) => `${node}`.repeat(8);
  const tell = async (message: PeerMessage, node?: string) => {
    await Promise.resolve();
    const index = nodes.findIndex((_, own) => nameOf(own) === node);
    // As a session does it.
    if (message.kind === 'waiting') nodes[home].flush();
    else (nodes[index] as SharedStreams | undefined)?.hear(message);
  };
  const peersOf = (own: number): Peers => ({
    isCut: () => false,
    node: nameOf(own),
    get isHome() {
      return home === own;
    },
    tell,
    tellHome: async message => {
      if (home !== own) await tell(message, nameOf(home));
    },
    tellHolders: async () => undefined,
    moved: () => undefined,
    takeHome: async () => {
      const previous = home;
      home = own;
      return previous === own ? undefined : nameOf(previous);
    },
    noteListened: async () => undefined,
    share: async () => undefined,
    readChannel: async () => undefined,
    writeChannel: async () => true,
    nextNumber: () => (numbers += 1),
    knows: () => true,
    isAlive: async () => true,
    ...others,
  });
  for (let index = 0; index < count; index++) {
    const settings = {
      session: 's',
      caller: 'jo',
      headers: {},
      keepAliveMs: 0,
      store,
      isPrimed: () => true,
      report: (error: Error) => reported.push(error),
    };
    nodes.push(count > 1 ? new SharedStreams(settings, peersOf(index), 0) : new SessionStreams(settings));
  }
  const listen = async (id?: string, node = 0) => {
    const response = new FakeResponse();
    await nodes[node].listen(response as unknown as ServerResponse, id);
    return response;
  };
  return { nodes, streams: nodes[0], store, reported, listen, homeOf: () => nodes[home] };
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
  'resume elsewhere',
] as const;

/** The home stores messages while another node becomes the home. */
const TAKEN_WHILE_SENDING: (typeof STEPS)[number][] = [
  'resume elsewhere',
  'resume elsewhere',
  ...Array<'send'>(4).fill('send'),
  'resume elsewhere',
];

it.each([1, 3])('gives a client that comes back every message, once and in order (%d nodes)', async count => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...STEPS), { maxLength: 60 }), async steps => {
      const { homeOf, listen, reported } = open(count);
      const got: string[] = [];
      let sent = 0;
      let node = 0;
      let response = await listen();
      let [last] = response.ids;
      let known = 0;
      const read = () => {
        for (const { id, data } of response.events.slice(known)) {
          got.push(data);
          last = id;
        }
        known = response.events.length;
      };
      const resume = async () => {
        response = await listen(last, node);
        known = 0;
      };
      const does: Record<(typeof STEPS)[number], () => unknown> = {
        send() {
          sent += 1;
          homeOf().send(String(sent), String(sent));
        },
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
        'resume elsewhere'() {
          node = (node + 1) % count;
          return resume();
        },
      };
      for (const step of steps) await does[step]();
      response.stall(false);
      await settled();
      // Whoever is connected and reads gets all without coming back.
      if (!response.destroyed) expect(response.events.at(-1)?.data ?? String(sent)).toBe(String(sent));
      await resume();
      await settled();
      read();
      expect(reported).toEqual([]);
      expect(got).toEqual(Array.from({ length: sent }, (_, index) => String(index + 1)));
    }),
    { numRuns: 300, examples: [[TAKEN_WHILE_SENDING]] },
  );
});

it('keeps a bounded number of streams that nobody reads', async () => {
  const { listen, streams } = open();
  const first = await listen();
  const [id] = first.ids;
  streams.send('"one"');
  await settled();
  first.cut();
  for (let index = 0; index < 200; index++) (await listen()).cut();
  const resumed = await listen(id);
  await settled();
  expect(resumed.events).toEqual([]);
});

it('reports a store that fails, and goes on', async () => {
  const { streams, store, reported, listen } = open();
  const response = await listen();
  jest.spyOn(store, 'push').mockRejectedValueOnce(new Error('full'));
  streams.send('1');
  streams.send('2');
  await settled();
  expect(reported).toEqual([new Error('full')]);
  expect(response.events.map(({ data }) => data)).toEqual(['2']);
});

it('writes the whole answer of a call that ends before other nodes know its stream', async () => {
  const begun = deferred<void>();
  const { streams, store } = open(2);
  const append = store.append.bind(store);
  jest.spyOn(store, 'append').mockImplementationOnce(async (...args) => {
    await begun.promise;
    await append(...args);
  });
  const response = new FakeResponse();
  const stream = streams.openFor(response as unknown as ServerResponse, [1]);
  stream.send('"progress"');
  stream.send('"result"');
  stream.end();
  begun.resolve();
  await settled();
  expect(response.events.map(({ data }) => data)).toEqual(['"progress"', '"result"']);
  expect(response.writableEnded).toBe(true);
});

it('keeps the answer of a call that sends more than it may keep while the store is away', async () => {
  const { streams, store } = open(2);
  const response = new FakeResponse();
  const stream = streams.openFor(response as unknown as ServerResponse, [1]);
  await settled();
  response.cut();
  for (let count = 0; count < 1200; count++) stream.send(`"${count}"`);
  stream.send('"result"');
  stream.end();
  await settled();
  const kept = await store.after('s', response.ids[0].slice(0, response.ids[0].indexOf('-')), 0);
  expect(kept.length).toBeLessThanOrEqual(1000);
  expect(kept.at(-1)).toMatchObject({ json: '"result"' });
});

it('answers once for a dead node, after what the client has read', async () => {
  const { nodes, streams, listen } = open(2, { isAlive: async () => false });
  const first = new FakeResponse();
  const stream = streams.openFor(first as unknown as ServerResponse, [1]);
  await settled();
  for (const text of ['"one"', '"two"', '"three"']) stream.send(text);
  await settled();
  first.cut();
  const [last] = first.ids.slice(-1);
  const second = await listen(last, 1);
  await settled();
  const other = nodes[1] as SharedStreams;
  await other.catchUp();
  await other.catchUp();
  await settled();
  expect(second.events).toEqual([
    { id: last.replace(/-3$/, '-4'), data: expect.stringContaining('"error"') as string },
  ]);
});
