import { isCaller } from '../../protocol/caller-limit.js';
import type { TrafficPoint } from '../../protocol/traffic-listener.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { McpServers } from '../../module/mcp-servers.js';
import { clipped } from '../../util/clipped.js';
import type { Live, LiveServer } from '../api.js';
import type { LiveCalls, NameOf } from '../record/live-calls.js';

/** The latest calls, and what clients have open now. */
export const liveOf = (servers: McpServers, calls: LiveCalls): Live => ({
  calls: calls.latest((...about) => nameOf(servers, ...about)),
  total: calls.total,
  servers: servers.all().map(server => serverOf(server, calls)),
});

function serverOf({ options, limits, gauges, refusals }: McpServerInstance, calls: LiveCalls): LiveServer {
  const sizes = Object.entries(limits).map(([name, { size }]) => [name, size] as const);
  const numbers = Object.entries(gauges).map(([name, read]) => [name, read()] as const);
  return {
    server: options.name,
    open: Object.fromEntries([...sizes, ...numbers]),
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

/** The subject, the user or the client in the key of a caller, or its address. */
function principalIn(key: string): string {
  if (!isCaller(key)) return key;
  const [client, subject, , ...user] = JSON.parse(key) as unknown[];
  const known = [subject, ...user, client].flat(2).filter(one => typeof one === 'string');
  const name = known.find(one => !TYPES.has(one));
  return clipped(name ?? 'unknown', MAX_NAME);
}

/** Types of the values in a key. */
const TYPES: ReadonlySet<string> = new Set(['string', 'number', 'bigint', 'boolean', 'user']);
const MAX_NAME = 200;

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
