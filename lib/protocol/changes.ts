import type { ServerEventBus, ServerNotifier } from '@modelcontextprotocol/server';

/** Notifies all clients of a server about a change. */
export type ChangeNotifier = ServerNotifier;

/** Publishes changes on the bus that every connection of the server listens to. */
export const notifierOver = (bus: ServerEventBus): ChangeNotifier => ({
  toolsChanged: () => bus.publish({ kind: 'tools_list_changed' }),
  promptsChanged: () => bus.publish({ kind: 'prompts_list_changed' }),
  resourcesChanged: () => bus.publish({ kind: 'resources_list_changed' }),
  resourceUpdated: uri => bus.publish({ kind: 'resource_updated', uri }),
});
