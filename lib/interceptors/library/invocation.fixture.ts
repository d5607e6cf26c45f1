import type { InterceptorInvocation } from '../authoring.js';
import type { Phase } from '../protocol/types.js';

/** An invocation of `tools/call` by a known user in a session; `rest` changes it. */
export function invocationOf<E = unknown, P extends Phase = Phase>(
  payload: unknown,
  rest: Partial<Omit<InterceptorInvocation, 'payload'>> = {},
): InterceptorInvocation<E, P> {
  return {
    name: 'test',
    event: 'tools/call',
    phase: 'request',
    direction: 'receive',
    request: undefined,
    context: { sessionId: 's1', principal: { type: 'user', id: 'jo' } },
    signal: new AbortController().signal,
    timeoutMs: 1000,
    bag: new Map(),
    ...rest,
    payload,
  } as unknown as InterceptorInvocation<E, P>;
}
