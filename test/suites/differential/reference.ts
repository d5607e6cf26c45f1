import { once } from 'node:events';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { McpModuleOptions } from 'nestjs-mcp';
import { serverForConnection } from '../../../lib/server/connection-server.js';
import { MCP_SERVERS, type McpServers } from '../../../lib/module/mcp-servers.js';
import { serverForRequest } from '../../../lib/server/sdk-server.js';

/** A server of which the SDK answers every request. */
export interface Reference {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves an application's handlers as the SDK's documentation has it, on plain `node:http`: `createMcpHandler`, and one
 * transport for each 2025-era session. The SDK's server calls the application's own pipeline.
 */
export async function startReference(
  app: INestApplication,
  legacy: NonNullable<McpModuleOptions['legacy']>,
): Promise<Reference> {
  const host = app.get<McpServers>(MCP_SERVERS, { strict: false }).get()!;
  const handler = createMcpHandler(
    ({ era }) => {
      const server = serverForRequest(host, era, () => undefined);
      // The SDK compares the header parameters itself of a tool whose schema it knows.
      server.toolInputSchemaJson = name => host.catalog.tools.get(name)?.definition.inputSchema;
      return server;
    },
    { legacy: legacy === 'stateless' ? 'stateless' : 'reject', bus: host.bus, keepAliveMs: 0 },
  );
  const sessions = sessionsOf(() => serverForConnection(host, 'legacy'));
  const answer = async (request: Request) =>
    legacy === 'sessions' && (await isLegacyRequest(request))
      ? sessions.fetch(request)
      : handler.fetch(request);
  const http = createServer((incoming, outgoing) => {
    const fetch = async (request: Request) => {
      const response = await answer(request);
      // The SDK's adapter leaves the head of a stream to its first event.
      if (response.headers.get('content-type') === 'text/event-stream')
        setImmediate(() => outgoing.writableEnded || outgoing.flushHeaders());
      return response;
    };
    void toNodeHandler({ fetch })(incoming, outgoing);
  });
  http.keepAliveTimeout = 0;
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    async close() {
      await Promise.all([handler.close(), sessions.close()]);
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

interface Connectable {
  connect(transport: WebStandardStreamableHTTPServerTransport): Promise<void>;
}

/** One transport for each session. A request without a session gets a new one, which says what is wrong with it. */
function sessionsOf(connection: () => Connectable) {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const open = async () => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      keepAliveMs: 0,
      onsessioninitialized: id => void sessions.set(id, transport),
      onsessionclosed: id => void sessions.delete(id),
    });
    await connection().connect(transport);
    return transport;
  };
  return {
    async fetch(request: Request): Promise<Response> {
      const id = request.headers.get('mcp-session-id');
      const known = id === null ? undefined : sessions.get(id);
      if (id !== null && !known) {
        const error = { code: -32001, message: 'Session not found' };
        return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 });
      }
      const transport = known ?? (await open());
      const response = await transport.handleRequest(request);
      if (transport.sessionId === undefined) await transport.close();
      return response;
    },
    async close(): Promise<void> {
      await Promise.all([...sessions.values()].map(transport => transport.close()));
    },
  };
}
