import { LRUCache } from 'lru-cache';
import { invokerOf } from './sessions.js';

/** State is kept for this many invokers; a further one replaces the invoker that was unused for longest. */
const MAX_INVOKERS = 100;

/**
 * State for the application's own traffic, and separate state for each party that sends `interceptor/invoke`: it chooses
 * what it says of its callers, and must not displace the state of others.
 */
export class PerInvoker<T extends object> {
  private readonly own: T;
  private readonly invoked = new LRUCache<string, T>({ max: MAX_INVOKERS });

  constructor(private readonly create: () => T) {
    this.own = create();
  }

  /** The state if there is any. */
  peek(stateKey: string): T | undefined {
    const invoker = invokerOf(stateKey);
    return invoker === undefined ? this.own : this.invoked.peek(invoker);
  }

  /** @param stateKey as `stateKeyOf` makes them */
  of(stateKey: string): T {
    const invoker = invokerOf(stateKey);
    if (invoker === undefined) return this.own;
    const state = this.invoked.get(invoker) ?? this.create();
    this.invoked.set(invoker, state);
    return state;
  }
}
