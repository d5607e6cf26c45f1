import type { PreparedEntry } from '../chain/entry.js';
import type { InterceptorDescriptor, PriorityHint } from '../protocol/types.js';

export function resolvedDescriptor(entry: PreparedEntry): InterceptorDescriptor {
  const { mode: _mode, failOpen: _failOpen, priorityHint: _priority, ...declared } = entry.descriptor;
  const { hooks, mode, failOpen, priority } = entry;
  const priorityHint = hintOf(priority);
  return {
    ...declared,
    hooks,
    ...(mode === 'audit' && { mode }),
    ...(failOpen && { failOpen }),
    ...(priorityHint !== 0 && { priorityHint }),
  };
}

function hintOf({ request, response }: PreparedEntry['priority']): PriorityHint {
  if (request === response) return request;
  return { ...(request !== 0 && { request }), ...(response !== 0 && { response }) };
}
