import type { ChangeNotifier } from '../server/changes.js';
import type { Params } from '../server/dispatcher.js';

/**
 * Whether a notification tells of a resource that nobody has asked this backend for. One of several could tell of
 * another's.
 */
export const isForeign = (method: string, { uri }: Params, asked: { wants(uri: string): boolean }): boolean =>
  method === 'notifications/resources/updated' && !asked.wants(String(uri));

/** Tells clients of what a backend's notification tells, if it tells of a change. */
export function notifyChange(changes: ChangeNotifier, method: string, { uri }: Params): void {
  switch (method) {
    case 'notifications/tools/list_changed':
      return changes.toolsChanged();
    case 'notifications/prompts/list_changed':
      return changes.promptsChanged();
    case 'notifications/resources/list_changed':
      return changes.resourcesChanged();
    case 'notifications/resources/updated':
      if (typeof uri === 'string') changes.resourceUpdated(uri);
  }
}
