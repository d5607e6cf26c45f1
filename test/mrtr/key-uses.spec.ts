import { KeyUses } from '../../lib/mrtr/key-uses.js';
import { MrtrError } from '../../lib/mrtr/mrtr.error.js';

const duration = (count: number): number => {
  const uses = new KeyUses('Tools.loop', (code, message) => new MrtrError(code, message));
  const add = () => uses.add('step', 'item', add);
  const start = process.hrtime.bigint();
  for (let index = 0; index < count; index++) add().isOver = true;
  return Number(process.hrtime.bigint() - start);
};

describe('the keys of a loop', () => {
  it('take no longer each, the more there were', () => {
    duration(2_500);
    expect(duration(40_000) / duration(2_500)).toBeLessThan(16 * 3);
  });
});
