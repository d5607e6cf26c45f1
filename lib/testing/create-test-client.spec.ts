import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { startApp } from '../../test/fixtures/matrix.js';

@Injectable()
class Tools {
  @Tool()
  hello() {
    return 'hello';
  }
}

it('a closed test client leaves no connection behind', async () => {
  const test = await startApp([Tools]);
  const connections: { closed: Promise<unknown>; requests: number }[] = [];
  const bySocket = new WeakMap<Socket, (typeof connections)[number]>();
  const server = test.app.getHttpServer() as Server;
  server.on('connection', (socket: Socket) => {
    const connection = { closed: once(socket, 'close'), requests: 0 };
    connections.push(connection);
    bySocket.set(socket, connection);
  });
  server.on('request', ({ socket }: IncomingMessage) => (bySocket.get(socket)!.requests += 1));
  const client = await test.client({ era: 'legacy' });
  await client.callTool({ name: 'hello' });
  await client.close();
  await Promise.all(connections.map(({ closed }) => closed));
  // A connection that is kept for later has several requests, or none.
  expect(connections.map(({ requests }) => requests)).toEqual(connections.map(() => 1));
  expect(connections.length).toBeGreaterThan(1);
  await test.close();
});
