import type { Result } from '@modelcontextprotocol/server';
import type { Answer } from '../protocol/answer.js';
import { listenedUris } from '../protocol/params.js';
import type { Handlers } from '../protocol/handlers.js';

/** The resources of a `subscriptions/listen` whose changes are reported. */
export interface Admitted extends Result {
  readonly resourceSubscriptions: readonly string[];
}

/** Lets the handlers decide on each resource of a `subscriptions/listen`. The first refusal is the answer. */
export const admitResources =
  (handlers: Handlers): Answer =>
  async (call, params): Promise<Admitted> => {
    const uris = listenedUris(params);
    const { subscriptionsAtOnce } = handlers;
    const resourceSubscriptions: string[] = [];
    for (let start = 0; start < uris.length; start += subscriptionsAtOnce) {
      // The client has disconnected, so no further check runs.
      call.reply.signal.throwIfAborted();
      const some = uris.slice(start, start + subscriptionsAtOnce);
      const admitted = await Promise.allSettled(some.map(uri => handlers.admitSubscription(uri, call)));
      for (const [index, one] of admitted.entries()) {
        if (one.status === 'rejected') throw one.reason;
        if (one.value) resourceSubscriptions.push(some[index]);
      }
    }
    return { resourceSubscriptions };
  };
