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

  constructor(http: ResolvedHttpOptions, counting?: Counting) {
    this.limit = new CallerLimit(
      'listeners',
      {
        max: http.maxListeners,
        maxPerCaller: http.maxListenersPerCaller,
      },
      { retryAfter: RETRY_AFTER_S, counting },
    );
  }

  /** Counts a response until it closes, or answers it with a refusal. @returns whether it may become a stream */
  async admits({ caller, rawResponse }: Incoming, id?: RequestId): Promise<boolean> {
    const reached = await this.limit.claim(caller);
    if (reached) {
      limitError(reached, id).send(rawResponse);
      return false;
    }
    // A closed response does not emit `close` again.
    if (rawResponse.destroyed) this.limit.release(caller);
    else rawResponse.once('close', () => this.limit.release(caller));
    return !rawResponse.destroyed;
  }
}
