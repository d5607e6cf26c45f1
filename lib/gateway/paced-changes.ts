import type { Params } from '../protocol/mcp-call.js';

type Tell = (method: string, params: Params) => void;

/** Passes on each kind of change at once, and then at most once in each interval, in milliseconds. */
export function paced(tell: Tell, intervalMs: number): Tell {
  /** The kinds that were passed on within the interval, with the latest change that was not. */
  const recent = new Map<string, Params | undefined>();
  const pass: Tell = (method, params) => {
    if (recent.has(method)) return void recent.set(method, params);
    recent.set(method, undefined);
    setTimeout(() => {
      const missed = recent.get(method);
      recent.delete(method);
      if (missed) pass(method, missed);
    }, intervalMs).unref();
    tell(method, params);
  };
  return pass;
}
