import { isCaller } from '../../protocol/caller-limit.js';
import type { OpenSession, OpenStream } from '../../protocol/open-items.js';
import type { TrafficPoint } from '../../protocol/traffic-listener.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { McpServers } from '../../module/mcp-servers.js';
import { WRITTEN_AT } from '../../transports/http/event-stream.js';
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
  const { options, limits, gauges, openItems, refusals } = server;
  const sizes = Object.entries(limits).map(([name, { size }]) => [name, size] as const);
  const numbers = Object.entries(gauges).map(([name, read]) => [name, read()] as const);
  return {
    server: options.name,
    open: Object.fromEntries([...sizes, ...numbers]),
    lists: {
      sessions: listOf(openItems.sessions?.values(), sessionRow),
      streams: listOf(openItems.streams, streamRow(revisionsOf(server))),
    },
    callers: callersOf(limits),
    traffic: calls.trafficOf(options.name),
    refusals: Object.fromEntries(refusals),
  };
}

const MAX_CALLERS = 100;

function callersOf(limits: McpServerInstance['limits']): LiveServer['callers'] {
  const open = new Map<string, Record<string, number>>();
  for (const [name, { held }] of Object.entries(limits)) {
    for (const [key, count] of held) {
      const caller = principalIn(key);
      if (open.size >= MAX_CALLERS && !open.has(caller)) continue;
      const counts = open.get(caller) ?? {};
      counts[name] = (counts[name] ?? 0) + count;
      open.set(caller, counts);
    }
  }
  return Array.from(open, ([caller, counts]) => ({ caller, open: counts }));
}

const MAX_ITEMS = 100;

/** The whole id of a session would let its reader use the session. */
const MAX_ID = 8;

function listOf<Item>(items: Iterable<Item> | undefined, rowOf: (item: Item) => OpenRow): OpenList {
  const all = [...(items ?? [])];
  return { rows: all.slice(-MAX_ITEMS).reverse().map(rowOf), more: Math.max(0, all.length - MAX_ITEMS) };
}

function sessionRow({ caller, sessionId, options, server, lastMessageAt }: OpenSession): OpenRow {
  return {
    caller: principalIn(isCaller(caller) ? caller : options.limitKey),
    session: sessionId.slice(0, MAX_ID),
    ...defined({ revision: server.server.getNegotiatedProtocolVersion() }),
    since: timeOf(options.openedAt),
    lastMessageAt: timeOf(lastMessageAt),
  };
}

const streamRow =
  (known: readonly string[]) =>
  ([{ caller, rawRequest, rawResponse }, since]: readonly [OpenStream, number]): OpenRow => {
    const { 'mcp-session-id': session, 'mcp-protocol-version': revision } = rawRequest.headers;
    const lastMessageAt = WRITTEN_AT.get(rawResponse);
    return {
      caller: principalIn(caller),
      // A request of 2026-07-28 may have any such header.
      ...(rawRequest.method === 'GET' && { session: String(session).slice(0, MAX_ID) }),
      ...defined({ revision: known.find(one => one === revision) }),
      since: timeOf(since),
      ...(lastMessageAt !== undefined && { lastMessageAt: timeOf(lastMessageAt) }),
    };
  };

const timeOf = (at: number): string => new Date(at).toISOString();

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
