import { unlessAborted } from './abort.js';

const turn = () => new Promise(setImmediate);

it('a promise that rejects after its signal had fired is no unhandled rejection', async () => {
  let reject!: (reason: Error) => void;
  const promise = new Promise<never>((_, no) => (reject = no));
  await expect(unlessAborted(promise, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  reject(new Error('late'));
  // An unhandled rejection fails the test that it falls into.
  await turn();
});

it('nor is one that rejects after it was given up', async () => {
  let reject!: (reason: Error) => void;
  const promise = new Promise<never>((_, no) => (reject = no));
  const controller = new AbortController();
  const waiting = unlessAborted(promise, controller.signal);
  controller.abort(new Error('gone'));
  await expect(waiting).rejects.toThrow('gone');
  reject(new Error('late'));
  await turn();
});

it('a promise that settles in time is what it comes to', async () => {
  const { signal } = new AbortController();
  await expect(unlessAborted(Promise.resolve(7), signal)).resolves.toBe(7);
  await expect(unlessAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
});
