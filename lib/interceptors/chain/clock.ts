/** Time, as the chain needs it. The engine has none of its own, so that tests and simulations can bring theirs. */
export interface Clock {
  now(): number;
  after(ms: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
