import type { RequestId } from '@modelcontextprotocol/server';
import { CallerLimit, type Counting } from '../../protocol/caller-limit.js';
import type { ResolvedHttpOptions } from '../../server/server-options.js';
import type { Incoming } from './incoming.js';
import { limitError } from './transport-error.js';

/** Delay before a client may try again to open a stream, in seconds. */
const RETRY_AFTER_S = 30;

/** Counts the streams on which clients only listen: GET streams of sessions, and `subscriptions/listen`. */
export class ListenerLimit {
  readonly limit: CallerLimit;
  /** The requests whose responses are counted, with the time of each in milliseconds since 1970. */
  readonly open = new Map<Incoming, number>();

  constructor(http: ResolvedHttpOptions, counting?: Counting) {
    const caps = { max: http.maxListeners, maxPerCaller: http.maxListenersPerCaller };
    this.limit = new CallerLimit('listeners', caps, { retryAfter: RETRY_AFTER_S, counting });
  }

  /** Counts a response until it closes, or answers it with a refusal. @returns whether it may become a stream */
  async admits(incoming: Incoming, id?: RequestId): Promise<boolean> {
    const { caller, rawResponse } = incoming;
    const reached = await this.limit.claim(caller);
    if (reached) {
      limitError(reached, id).send(rawResponse);
      return false;
    }
    this.open.set(incoming, Date.now());
    const over = () => {
      this.open.delete(incoming);
      this.limit.release(caller);
    };
    // A closed response does not emit `close` again.
    if (rawResponse.destroyed) over();
    else rawResponse.once('close', over);
    return !rawResponse.destroyed;
  }
}
