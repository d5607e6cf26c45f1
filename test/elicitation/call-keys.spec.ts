import { CallKeys, framesAbove } from '../../lib/elicitation/replay/call-keys.js';
import { MrtrError } from '../../lib/elicitation/mrtr.error.js';

it('a loop looks at the last use of its key only', () => {
  const uses = new CallKeys('Tools.loop', (code, message) => new MrtrError(code, message));
  const add = () => uses.add('step', 'item', framesAbove(add));
  let looks = 0;
  for (let index = 0; index < 100; index++) {
    Object.defineProperty(add(), 'isOver', { get: () => (looks += 1) > 0 });
  }
  expect(looks).toBe(99);
});
