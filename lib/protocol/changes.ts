import type { ServerEvent, ServerEventBus, ServerNotifier } from '@modelcontextprotocol/server';

/** Notifies all clients of a server about a change. */
export type ChangeNotifier = ServerNotifier;

/** For each change: the capability and the flag in it that declare it, the field that asks for it, its notification. */
export const CHANGES = {
  tools_list_changed: ['tools', 'listChanged', 'toolsListChanged', 'notifications/tools/list_changed'],
  prompts_list_changed: [
    'prompts',
    'listChanged',
    'promptsListChanged',
    'notifications/prompts/list_changed',
  ],
  resources_list_changed: [
    'resources',
    'listChanged',
    'resourcesListChanged',
    'notifications/resources/list_changed',
  ],
  resource_updated: ['resources', 'subscribe', 'resourceSubscriptions', 'notifications/resources/updated'],
} as const satisfies Record<ServerEvent['kind'], readonly string[]>;

/** Publishes changes on the bus that every connection of the server listens to. */
export const notifierOver = (bus: ServerEventBus): ChangeNotifier => ({
  toolsChanged: () => bus.publish({ kind: 'tools_list_changed' }),
  promptsChanged: () => bus.publish({ kind: 'prompts_list_changed' }),
  resourcesChanged: () => bus.publish({ kind: 'resources_list_changed' }),
  resourceUpdated: uri => bus.publish({ kind: 'resource_updated', uri }),
});
