import { Chain } from '../../../lib/interceptors/chain/chain.js';
import type { Clock } from '../../../lib/interceptors/chain/deadline.js';
import type { ChainEntry, LocalTraits } from '../../../lib/interceptors/chain/entry.js';
import type { ChainResult, Invocation } from '../../../lib/interceptors/chain/result.js';
import type { ChainParams } from '../../../lib/interceptors/chain/params.js';
import type { InterceptorDescriptor, InterceptorType } from '../../../lib/interceptors/protocol/types.js';

export const EVENT = 'tools/call';

/** A clock that stands still until it is told to move. */
export class ManualClock implements Clock {
  private time = 0;
  private readonly timers = new Map<() => void, number>();

  readonly now = () => this.time;

  after(ms: number, callback: () => void): () => void {
    this.timers.set(callback, this.time + ms);
    return () => this.timers.delete(callback);
  }

  advance(ms: number): void {
    this.time += ms;
    for (const [callback, at] of [...this.timers]) {
      if (at > this.time) continue;
      this.timers.delete(callback);
      callback();
    }
  }
}

type Behaviour = (invocation: Invocation) => unknown;

export interface StubOptions extends Partial<Omit<InterceptorDescriptor, 'name' | 'type'>> {
  readonly host?: string;
  readonly overrides?: ChainEntry['overrides'];
  readonly traits?: LocalTraits;
  readonly checkConfig?: ChainEntry['checkConfig'];
}

function stub(
  type: InterceptorType,
  name: string,
  invoke: Behaviour,
  { host = 'local', overrides, traits, checkConfig, ...descriptor }: StubOptions = {},
): ChainEntry {
  const hooks = [
    { events: [EVENT], phase: 'request' as const },
    { events: [EVENT], phase: 'response' as const },
  ];
  return { host, overrides, traits, checkConfig, descriptor: { name, type, hooks, ...descriptor }, invoke };
}

export const validator = (name: string, invoke: Behaviour = pass, options?: StubOptions): ChainEntry =>
  stub('validation', name, invoke, options);

export const mutator = (name: string, invoke: Behaviour = append(name), options?: StubOptions): ChainEntry =>
  stub('mutation', name, invoke, options);

export const sink = (name: string, invoke: Behaviour, options?: StubOptions): ChainEntry =>
  stub('sink', name, invoke, options);

export const pass: Behaviour = () => ({ valid: true });
export const deny: Behaviour = () => ({
  valid: false,
  messages: [{ message: 'no', path: 'a', severity: 'error' }],
});
export const warn: Behaviour = () => ({
  valid: false,
  severity: 'warn',
  messages: [{ message: 'hm', severity: 'warn' }],
});
export const crash: Behaviour = () => Promise.reject(new Error('secret detail'));
export const hang: Behaviour = () => new Promise(() => undefined);

/** A mutator that adds a word to `payload.trail`. */
export const append =
  (word: string): Behaviour =>
  ({ payload }) => {
    const { trail = [], ...rest } = payload as { trail?: string[] };
    return { modified: true, payload: { ...rest, trail: [...trail, word] } };
  };

/** Runs a chain, with its time moving on by a second whenever it waits. */
export async function run(
  entries: readonly ChainEntry[],
  params: Partial<ChainParams> = {},
): Promise<ChainResult> {
  const clock = new ManualClock();
  const running = new Chain(entries, { clock }).execute({
    event: EVENT,
    phase: 'request',
    direction: 'receive',
    payload: {},
    ...params,
  });
  let done = false;
  void running.finally(() => (done = true));
  while (!done) {
    await new Promise(setImmediate);
    clock.advance(1000);
  }
  return running;
}

/** The words that mutators left in the final payload. */
export const trailOf = ({ finalPayload }: ChainResult): string[] =>
  (finalPayload as { trail?: string[] }).trail ?? [];
