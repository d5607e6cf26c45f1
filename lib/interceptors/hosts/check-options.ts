import type { InterceptorMetadata } from '../../decorators/interceptor-options.js';
import { isPriority, readHooks } from '../protocol/read-descriptor.js';
import type { InterceptorDescriptor, Mode } from '../protocol/types.js';

const PHASES = new Set<unknown>(['request', 'response', 'both']);
const MODES: Readonly<Record<string, Mode>> = { active: 'active', enforce: 'active', audit: 'audit' };
const EVENT = /^(\*|[A-Za-z0-9_.-]+\/\*|[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*)$/;

/**
 * Turns an author's options into a descriptor.
 * @throws Error saying which option is wrong and what it may be
 */
export function describe({ type, options }: InterceptorMetadata, methodName: string): InterceptorDescriptor {
  const {
    name = methodName,
    version,
    description,
    phase = 'request',
    mode = 'active',
    failOpen,
    compat,
  } = options;
  const declared = options.hooks ?? (options.events === undefined ? [] : [{ events: options.events, phase }]);
  for (const hook of declared) {
    assert(
      PHASES.has(hook.phase),
      `its phase ${JSON.stringify(hook.phase)} is unknown: use "request", "response" or "both"`,
    );
    const wrong = hook.events.find(event => typeof event !== 'string' || !EVENT.test(event));
    assert(
      wrong === undefined,
      `${JSON.stringify(wrong)} is no event: use "tools/call", "tools/*", "*" or "namespace/operation"`,
    );
  }
  assert(name !== '', 'its "name" is empty');
  assert(
    declared.some(({ events }) => events.length > 0),
    'it hooks no event: give it at least one in "events"',
  );
  assert(Object.hasOwn(MODES, mode), `its mode ${JSON.stringify(mode)} is unknown: use "active" or "audit"`);
  const { priority, timeoutMs } = options;
  const sides: unknown[] = typeof priority === 'object' ? Object.values(priority) : [priority ?? 0];
  assert(
    sides.every(isPriority),
    'its "priority" must be a 32-bit integer, or { request, response } of them',
  );
  assert(
    timeoutMs === undefined || (Number.isSafeInteger(timeoutMs) && timeoutMs > 0),
    'its "timeoutMs" must be a whole number of milliseconds above 0',
  );
  return {
    name,
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
    type,
    hooks: readHooks(declared),
    ...(MODES[mode] === 'audit' && { mode: 'audit' }),
    ...(failOpen === true && { failOpen }),
    ...(priority !== undefined && priority !== 0 && { priorityHint: priority }),
    ...(compat && { compat }),
    ...(options.configSchema && { configSchema: options.configSchema }),
  };
}

function assert(holds: boolean, problem: string): asserts holds {
  if (!holds) throw new Error(problem);
}
