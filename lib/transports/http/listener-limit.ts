import type { ServerResponse } from 'node:http';
import type { RequestId } from '@modelcontextprotocol/server';
import { CallerLimit, type Counting } from '../../protocol/caller-limit.js';
import type { ResolvedHttpOptions } from '../../server/server-options.js';
import type { OpenItem } from '../../protocol/open-item.js';
import { streamOf } from './event-stream.js';
import type { Incoming } from './incoming.js';
import { limitError } from './transport-error.js';

/** Delay before a client may try again to open a stream, in seconds. */
const RETRY_AFTER_S = 30;

/** Counts the streams on which clients only listen: GET streams of sessions, and `subscriptions/listen`. */
export class ListenerLimit {
  readonly limit: CallerLimit;
  /** The responses that are counted, the oldest first. */
  private readonly open = new Map<ServerResponse, OpenItem>();

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

  /** What the clients listen on, the oldest first. */
  *items(): Generator<OpenItem> {
    for (const [response, item] of this.open) {
      yield { ...item, lastMessageAt: streamOf(response)?.lastMessageAt };
    }
  }

  /**
   * Counts a response until it closes, or answers it with a refusal.
   * @param about the id of its request, or the beginning of the id of its session
   * @returns whether it may become a stream
   */
  async admits(
    { caller, rawRequest, rawResponse }: Incoming,
    { id, session }: { readonly id?: RequestId; readonly session?: string },
  ): Promise<boolean> {
    const reached = await this.limit.claim(caller);
    if (reached) {
      limitError(reached, id).send(rawResponse);
      return false;
    }
    // A closed response does not emit `close` again.
    if (rawResponse.destroyed) {
      this.limit.release(caller);
      return false;
    }
    const revision = rawRequest.headers['mcp-protocol-version'] as string | undefined;
    this.open.set(rawResponse, { caller, session, revision, since: Date.now() });
    rawResponse.once('close', () => {
      this.open.delete(rawResponse);
      this.limit.release(caller);
    });
    return true;
  }
}
