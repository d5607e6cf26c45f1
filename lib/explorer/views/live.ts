import type { OpenItem } from '../../protocol/open-item.js';
import type { TrafficPoint } from '../../protocol/traffic-listener.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { McpServers } from '../../module/mcp-servers.js';
import { defined } from '../../util/defined.js';
import type { Live, LiveServer, OpenList, OpenRow } from '../api.js';
import { revisionsOf } from '../call/caller.js';
import type { LiveCalls, NameOf } from '../record/live-calls.js';
import { principalIn } from './principal.js';

/** The latest calls, and what clients have open now. */
export const liveOf = (servers: McpServers, calls: LiveCalls): Live => ({
  calls: calls.latest((...about) => nameOf(servers, ...about)),
  total: calls.total,
  servers: servers.all().map(server => serverOf(server, calls)),
});

function serverOf(server: McpServerInstance, calls: LiveCalls): LiveServer {
  const { options, limits, gauges, refusals } = server;
  const sizes = Object.entries(limits).map(([name, { size }]) => [name, size] as const);
  const numbers = Object.entries(gauges).map(([name, read]) => [name, read()] as const);
  return {
    server: options.name,
    open: Object.fromEntries([...sizes, ...numbers]),
    lists: { sessions: listOf(server, 'sessions'), streams: listOf(server, 'streams') },
    callers: callersOf(limits),
    traffic: calls.trafficOf(options.name),
    refusals: Object.fromEntries(refusals),
  };
}

/** The most callers that are listed. */
const MAX_CALLERS = 100;

function callersOf(limits: McpServerInstance['limits']): LiveServer['callers'] {
  const open = new Map<string, Record<string, number>>();
  for (const [name, { held }] of Object.entries(limits)) {
    for (const [key, count] of held) {
      const caller = principalIn(key);
      const counts = open.get(caller) ?? {};
      if (open.size >= MAX_CALLERS && !open.has(caller)) continue;
      counts[name] = (counts[name] ?? 0) + count;
      open.set(caller, counts);
    }
  }
  return Array.from(open, ([caller, counts]) => ({ caller, open: counts }));
}

/** The most sessions, and the most streams, that are listed. */
const MAX_ITEMS = 100;

function listOf(server: McpServerInstance, name: string): OpenList {
  const items = [...(server.openItems[name]?.() ?? [])];
  return {
    rows: items
      .slice(-MAX_ITEMS)
      .reverse()
      .map(item => rowOf(item, revisionsOf(server))),
    more: Math.max(0, items.length - MAX_ITEMS),
  };
}

const rowOf = (
  { caller, session, revision, since, lastMessageAt }: OpenItem,
  known: readonly string[],
): OpenRow => ({
  caller: principalIn(caller),
  ...defined({ session, revision: known.find(one => one === revision) }),
  since: new Date(since).toISOString(),
  ...(lastMessageAt !== undefined && { lastMessageAt: new Date(lastMessageAt).toISOString() }),
});

/** A caller writes the name: only what the catalogue has is shown, or what another server has answered. */
function nameOf(
  servers: McpServers,
  ...[point, kind, name, isAnswered]: Parameters<NameOf>
): string | undefined {
  const server = ownerOf(servers, point);
  if (!server) return isAnswered && kind !== 'resource' ? name : undefined;
  const { catalog } = server;
  if (kind === 'tool') return catalog.tools.has(name) ? name : undefined;
  if (kind === 'prompt') return catalog.prompts.has(name) ? name : undefined;
  // The variables of a template are arguments.
  return catalog.readersOf(name).next().value?.entry.key;
}

const ownerOf = (servers: McpServers, { side, name }: TrafficPoint): McpServerInstance | undefined =>
  side === 'server'
    ? servers.all().find(({ options, handlers }) => options.name === name && !handlers.isRemote)
    : undefined;
