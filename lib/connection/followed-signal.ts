/** Who follows a signal: with one listener for all, however many requests share it. */
const followersOf = new WeakMap<AbortSignal, Set<AbortController>>();

/** A signal of one request. */
export interface FollowingSignal {
  readonly signal: AbortSignal;
  /** To be called once the request is over. */
  release(): void;
}

/**
 * A signal that fires with another one. Node's `fetch` leaves a listener on the signal that it is given until the request is
 * garbage: thousands pile up on the signal that all requests of a connection share, and Node warns of them.
 */
export function following(source: AbortSignal): FollowingSignal {
  const controller = new AbortController();
  if (source.aborted) controller.abort(source.reason);
  const followers = followersOf.get(source) ?? watched(source);
  followers.add(controller);
  return { signal: controller.signal, release: () => void followers.delete(controller) };
}

function watched(source: AbortSignal): Set<AbortController> {
  const followers = new Set<AbortController>();
  followersOf.set(source, followers);
  const onAbort = () => {
    for (const follower of followers) follower.abort(source.reason);
    followers.clear();
  };
  source.addEventListener('abort', onAbort, { once: true });
  return followers;
}
