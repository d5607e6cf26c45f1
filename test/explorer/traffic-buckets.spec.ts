import { TrafficBuckets } from '../../lib/explorer/record/traffic-buckets.js';

const MINUTE_MS = 60_000;
const sum = (buckets: TrafficBuckets, at: number) =>
  buckets.latest(at).reduce((all, { calls, errors }) => [all[0] + calls, all[1] + errors], [0, 0]);

it('traffic counts the latest five minutes, the oldest first', () => {
  const buckets = new TrafficBuckets();
  const start = Date.UTC(2026, 0, 1);
  buckets.add(start, false);
  buckets.add(start + 1000, true);
  buckets.add(start + 4 * MINUTE_MS, false);
  const latest = buckets.latest(start + 4 * MINUTE_MS);
  expect([latest.length, latest[11], latest[59]]).toEqual([
    60,
    { calls: 2, errors: 1 },
    { calls: 1, errors: 0 },
  ]);
  expect(sum(buckets, start + 4 * MINUTE_MS)).toEqual([3, 1]);
  expect(sum(buckets, start + 6 * MINUTE_MS)).toEqual([1, 0]);
  expect(sum(buckets, start + 60 * MINUTE_MS)).toEqual([0, 0]);
});
