import { SdkError, SdkErrorCode } from '@modelcontextprotocol/server';
import { CallerLimit, STDIO_CALLER, type Caps } from '../protocol/caller-limit.js';
import type { McpCall, ReplyChannel } from '../protocol/mcp-call.js';
import { unlessAborted } from '../util/abort.js';

type Waiting = Pick<McpCall, 'http' | 'reply'>;

/** Bounds how long a call waits for lists, whichever and however many it needs. */
export class ListDeadlines {
  private readonly ends = new WeakMap<ReplyChannel, number>();

  constructor(private readonly timeoutMs: number) {}

  isOver({ reply }: Waiting): boolean {
    return Date.now() > (this.ends.get(reply) ?? Infinity);
  }

  /** @throws SdkError (RequestTimeout) if the list is late */
  async within<T>({ reply }: Waiting, list: Promise<T>): Promise<T> {
    const end = this.ends.get(reply) ?? Date.now() + this.timeoutMs;
    this.ends.set(reply, end);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const fail = () => reject(new SdkError(SdkErrorCode.RequestTimeout, 'The list took too long'));
      timer = setTimeout(fail, Math.max(0, end - Date.now()));
    });
    try {
      return await unlessAborted(Promise.race([list, late]), reply.signal);
    } finally {
      clearTimeout(timer);
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
