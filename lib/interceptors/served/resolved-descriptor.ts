import type { PreparedEntry } from '../chain/entry.js';
import type { InterceptorDescriptor } from '../protocol/types.js';

export function resolvedDescriptor(entry: PreparedEntry): InterceptorDescriptor {
  const { mode: _mode, failOpen: _failOpen, priorityHint: _priority, ...declared } = entry.descriptor;
  const { hooks, mode, failOpen } = entry;
  const { request, response } = entry.priority;
  const each = { ...(request !== 0 && { request }), ...(response !== 0 && { response }) };
  return {
    ...declared,
    hooks,
    ...(mode === 'audit' && { mode }),
    ...(failOpen && { failOpen }),
    ...((request || response) && { priorityHint: request === response ? request : each }),
  };
}
