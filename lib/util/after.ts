import { isThenable } from './async-iterable.js';

/** Like `await`, which takes longer for a value that is not a promise. */
export function after<T, R>(
  value: T | PromiseLike<T>,
  next: (value: T) => R | PromiseLike<R>,
): R | Promise<R> {
  return isThenable(value) ? Promise.resolve(value).then(next) : (next(value) as R);
}
