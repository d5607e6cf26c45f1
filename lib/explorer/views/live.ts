import type { TrafficPoint } from '../../protocol/traffic-listener.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import type { McpServers } from '../../module/mcp-servers.js';
import type { Live, LiveServer } from '../api.js';
import type { LiveCalls, NameOf } from '../record/live-calls.js';

/** The latest calls, and what clients have open now. */
export const liveOf = (servers: McpServers, calls: LiveCalls): Live => ({
  calls: calls.latest((...about) => nameOf(servers, ...about)),
  total: calls.total,
  servers: servers.all().map(serverOf),
});

function serverOf({ options, limits, gauges, refusals }: McpServerInstance): LiveServer {
  const sizes = Object.entries(limits).map(([name, { size }]) => [name, size] as const);
  const numbers = Object.entries(gauges).map(([name, read]) => [name, read()] as const);
  return {
    server: options.name,
    open: Object.fromEntries([...sizes, ...numbers]),
    refusals: Object.fromEntries(refusals),
  };
}

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
