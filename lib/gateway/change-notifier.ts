import type { ChangeNotifier } from '../protocol/changes.js';
import type { Params } from '../protocol/mcp-call.js';

const LIST_CHANGED = {
  'notifications/tools/list_changed': 'toolsChanged',
  'notifications/prompts/list_changed': 'promptsChanged',
  'notifications/resources/list_changed': 'resourcesChanged',
} as const;

export const RESOURCE_UPDATED = 'notifications/resources/updated';
export const LIST_CHANGES = Object.keys(LIST_CHANGED);

const isListChange = (method: string): method is keyof typeof LIST_CHANGED =>
  Object.hasOwn(LIST_CHANGED, method);

/** Ignores notifications that are not about a change. */
export function notifyChange(changes: ChangeNotifier, method: string, { uri }: Params): void {
  if (isListChange(method)) changes[LIST_CHANGED[method]]();
  else if (method === RESOURCE_UPDATED && typeof uri === 'string') changes.resourceUpdated(uri);
}
