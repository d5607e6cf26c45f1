import { LRUCache } from 'lru-cache';
import { invokerOf } from './sessions.js';

/** State is kept for this many invokers; a further one replaces the invoker that was unused for longest. */
const MAX_INVOKERS = 100;

/** Separate state for each party that sends `interceptor/invoke`, which must not displace the state of others. */
export class PerInvoker<T extends object> {
  private readonly own: T;
  private readonly invoked = new LRUCache<string, T>({ max: MAX_INVOKERS });

  constructor(private readonly create: () => T) {
    this.own = create();
  }

  peek(stateKey: string): T | undefined {
    const invoker = invokerOf(stateKey);
    return invoker === undefined ? this.own : this.invoked.peek(invoker);
  }

  of(stateKey: string): T {
    const invoker = invokerOf(stateKey);
    if (invoker === undefined) return this.own;
    const state = this.invoked.get(invoker) ?? this.create();
    this.invoked.set(invoker, state);
    return state;
  }
}
