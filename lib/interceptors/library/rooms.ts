import { invokerOf } from './sessions.js';

/** The most invokers that something is kept for; beyond that, not for the one that was heard of longest ago. */
const MAX_INVOKERS = 100;

/**
 * What is kept for the application's own traffic, and apart for each of those who send `interceptor/invoke`: they make up
 * who calls, and must not take up anybody else's room.
 */
export class Rooms<T> {
  private readonly own: T;
  private readonly invoked = new Map<string, T>();

  constructor(private readonly create: () => T) {
    this.own = create();
  }

  /** The room there is, if there is one: who only looks takes none. */
  peek(stateKey: string): T | undefined {
    const invoker = invokerOf(stateKey);
    return invoker === undefined ? this.own : this.invoked.get(invoker);
  }

  /** @param stateKey as `stateKeyOf` makes them */
  of(stateKey: string): T {
    const invoker = invokerOf(stateKey);
    if (invoker === undefined) return this.own;
    const room = this.invoked.get(invoker) ?? this.create();
    // In order of use.
    this.invoked.delete(invoker);
    this.invoked.set(invoker, room);
    const [oldest] = this.invoked.keys();
    if (this.invoked.size > MAX_INVOKERS) this.invoked.delete(oldest);
    return room;
  }
}
