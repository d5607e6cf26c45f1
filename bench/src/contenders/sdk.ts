// The official SDK on `node:http`, without Nest: its handler, or in the 2025 era its session transport.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { textResult, toolsOf } from './catalog.js';
import { readSetup, ready } from './setup.js';

const setup = readSetup();
const tools = toolsOf(setup.tools);

function createMcpServer(): McpServer {
  const server = new McpServer({ name: 'bench', version: '1.0.0' });
  for (const { name, description, schema } of tools) {
    server.registerTool(name, { description, inputSchema: schema }, args =>
      textResult((args as { text: string }).text),
    );
  }
  return server;
}

const sessions = new Map<string, NodeStreamableHTTPServerTransport>();

async function serveSession(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let transport = sessions.get(String(request.headers['mcp-session-id']));
  if (!transport) {
    const created = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      enableJsonResponse: true,
      onsessioninitialized: id => void sessions.set(id, created),
    });
    transport = created;
    await createMcpServer().connect(transport);
  }
  await transport.handleRequest(request, response);
}

const handler = setup.era === '2026-07-28' ? toNodeHandler(createMcpHandler(createMcpServer)) : serveSession;
const server = createServer((request, response) => void handler(request, response));
server.listen(0, '127.0.0.1', () => ready(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`));
