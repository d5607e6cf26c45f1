import { SdkError, SdkErrorCode } from '@modelcontextprotocol/server';
import { CallerLimit, STDIO_CALLER, type Caps } from '../protocol/caller-limit.js';
import type { McpCall, ReplyChannel } from '../protocol/mcp-call.js';
import { timeLimit, unlessAborted } from '../util/abort.js';

type Waiting = Pick<McpCall, 'http' | 'reply'>;

/** The time in which a call waits for at least one list, in milliseconds. */
class Waited {
  private before = 0;
  private open = 0;
  private since = 0;

  get ms(): number {
    return this.open === 0 ? this.before : this.before + Date.now() - this.since;
  }

  begin(): void {
    if (this.open === 0) this.since = Date.now();
    this.open += 1;
  }

  end(): void {
    this.before = this.ms;
    this.since = Date.now();
    this.open -= 1;
  }
}

/**
 * Bounds how long a call waits for lists, whichever and however many it needs. All rounds of a 2025 call share the bound;
 * the time between two waits does not count, because the user may answer in it.
 */
export class ListDeadlines {
  private readonly calls = new WeakMap<ReplyChannel, Waited>();

  constructor(private readonly timeoutMs: number) {}

  isOver({ reply }: Waiting): boolean {
    return (this.calls.get(reply)?.ms ?? 0) >= this.timeoutMs;
  }

  /** @throws SdkError (RequestTimeout) if the list is late */
  async within<T>({ reply }: Waiting, list: Promise<T>): Promise<T> {
    const waited = this.calls.get(reply) ?? new Waited();
    this.calls.set(reply, waited);
    const late = () => new SdkError(SdkErrorCode.RequestTimeout, 'The list took too long');
    const time = timeLimit(this.timeoutMs - waited.ms, late);
    waited.begin();
    try {
      return await unlessAborted(unlessAborted(list, time.signal), reply.signal);
    } finally {
      waited.end();
      time.clear();
    }
  }
}

/** Counts the work that each caller waits for at one backend, so that a backend that hangs leaves room for others. */
export class BackendLimit {
  private readonly limit: CallerLimit;

  constructor(what: string, caps: Omit<Caps, 'max'>) {
    this.limit = new CallerLimit(what, { ...caps, max: Infinity });
  }

  /** @throws LimitReached if the caller waits for too much */
  async hold<T>({ http }: Pick<McpCall, 'http'>, work: () => Promise<T>): Promise<T> {
    const caller = http?.caller ?? STDIO_CALLER;
    const refusal = this.limit.take(caller);
    if (refusal) throw refusal;
    try {
      return await work();
    } finally {
      this.limit.release(caller);
    }
  }
}
