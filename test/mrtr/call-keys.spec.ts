import { CallKeys } from '../../lib/mrtr/replay/call-keys.js';
import { MrtrError } from '../../lib/mrtr/mrtr.error.js';

const durationOf = (count: number): number => {
  const uses = new CallKeys('Tools.loop', (code, message) => new MrtrError(code, message));
  const add = () => uses.add('step', 'item', add);
  const start = process.hrtime.bigint();
  for (let index = 0; index < count; index++) add().isOver = true;
  return Number(process.hrtime.bigint() - start);
};

const bestOf = (count: number): number => Math.min(...[1, 2, 3].map(() => durationOf(count)));

describe('the keys of a loop', () => {
  it('take no longer each, the more there were', () => {
    // 16 times as long where each takes the same, 256 times where each looks through those before it.
    expect(bestOf(1_600) / bestOf(100)).toBeLessThan(64);
  });
});
