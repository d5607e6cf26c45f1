import { Traffic } from './traffic.js';
import type { Observing, TrafficListener } from './traffic-listener.js';

const POINT = { side: 'server', name: 'shop' } as const;

it('has no observer, and nothing to run around interceptors, while nobody listens', () => {
  const traffic = new Traffic();
  expect([Traffic.of([]), traffic.at(POINT), traffic.turns, traffic.mark()]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

it('observes each request from its beginning to its first end', () => {
  const seen: unknown[] = [];
  const traffic = new Traffic();
  traffic.add({
    begin: ({ method }): Observing => {
      seen.push(method);
      return { end: outcome => seen.push(outcome) };
    },
  });
  const request = traffic.at(POINT)!.begin({ method: 'ping' });
  request.end({ result: {} });
  request.end({ error: new Error('late') });
  expect(seen).toEqual(['ping', { result: {} }]);
});

it.each<readonly [what: string, listener: TrafficListener]>([
  [
    'begin',
    {
      begin: () => {
        throw new Error('exporter');
      },
    },
  ],
  [
    'inject',
    {
      begin: () => ({
        inject: () => {
          throw new Error('propagator');
        },
        end: () => undefined,
      }),
    },
  ],
  [
    'end',
    {
      begin: () => ({
        end: () => {
          throw new Error('exporter');
        },
      }),
    },
  ],
])('lets a request go on if a listener fails in %s', (_, listener) => {
  const traffic = new Traffic();
  traffic.add(listener);
  const request = traffic.at(POINT)!.begin({ method: 'ping' });
  const params = { key: 'value' };
  expect(request.run(() => request.outgoing(params))).toEqual(params);
  request.end({ result: {} });
});
