import { Slices } from './slices.js';

/** Blocks the process, as work does. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

it('runs a piece of work at once', () => {
  const done: string[] = [];
  new Slices().add(() => done.push('a'));
  expect(done).toEqual(['a']);
});

it('runs all work in order, and lets other work in between', async () => {
  const slices = new Slices();
  const done: (number | string)[] = [];
  setImmediate(() => done.push('other'));
  for (const index of [1, 2, 3]) {
    slices.add(() => {
      block(6);
      done.push(index);
      if (index === 1) slices.add(() => done.push(4));
    });
  }
  while (done.length < 5) await new Promise(setImmediate);
  expect(done.filter(one => one !== 'other')).toEqual([1, 4, 2, 3]);
  expect(done.indexOf('other')).toBeLessThan(done.length - 1);
});
