import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer, type Tool } from '@modelcontextprotocol/server';

/** A tool whose argument `region` has a header. */
export const regional = (header = 'Region', name = 'regional'): Tool => ({
  name,
  inputSchema: {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': header }, size: { type: 'integer' } },
  },
});

/** What one call carried: its `Mcp-*` headers, and its arguments. */
export interface SeenCall {
  readonly headers: Readonly<Record<string, string>>;
  readonly args: unknown;
}

/** A server of the SDK's, which lists whatever a test wants, even what this package would refuse to declare. */
export interface HeaderServer {
  readonly url: string;
  /** What it lists. */
  tools: Tool[];
  /** How many to a page. */
  pageSize: number;
  /** The tools whose headers it checks; by default none. */
  checked: Tool[];
  readonly calls: SeenCall[];
  lists: number;
  /** The requests for `tools/call`, refused ones included. */
  attempts: number;
  close(): Promise<void>;
}

export async function startHeaderServer(tools: Tool[] = [regional()]): Promise<HeaderServer> {
  const state = {
    tools,
    pageSize: 100,
    checked: [] as Tool[],
    calls: [] as SeenCall[],
    lists: 0,
    attempts: 0,
  };

  class Recorder extends McpServer {
    override toolInputSchemaJson(name: string) {
      state.attempts += 1;
      return state.checked.find(tool => tool.name === name)?.inputSchema;
    }
  }

  const handler = createMcpHandler(({ requestInfo }) => {
    const product = new Recorder({ name: 'headers', version: '1.0.0' });
    const { server } = product;
    server.registerCapabilities({ tools: { listChanged: true } });
    server.setRequestHandler('tools/list', ({ params }) => {
      state.lists += 1;
      const start = Number(params?.cursor ?? 0);
      const end = start + state.pageSize;
      return {
        tools: state.tools.slice(start, end),
        ...(end < state.tools.length && { nextCursor: String(end) }),
      };
    });
    server.setRequestHandler('tools/call', ({ params }) => {
      const headers = [...(requestInfo?.headers ?? [])].filter(([name]) => name.startsWith('mcp-'));
      state.calls.push({ headers: Object.fromEntries(headers), args: params.arguments });
      return { content: [{ type: 'text', text: 'done' }] };
    });
    return product;
  });
  const http = createServer((request, response) => void toNodeHandler(handler)(request, response));
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return Object.assign(state, {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    async close() {
      await handler.close();
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  });
}
