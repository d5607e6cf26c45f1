import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { InterceptorChain } from 'nestjs-mcp/interceptors';
import { startApp, textOf } from '../../fixtures/matrix.js';

@Injectable()
class Shop {
  @Tool()
  open() {
    return 'open';
  }
}

const descriptor = (name: string) => ({
  name,
  type: 'validation',
  hooks: [{ events: ['tools/call'], phase: 'request' }],
});

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly cursor?: string };
}

/** A 2025-era host, by hand, for what no server of the SDK sends by itself. */
class HandmadeHost {
  interceptors = ['first'];
  lists = 0;
  readonly client = new Client({ name: 'test', version: '1' });
  private readonly own: InMemoryTransport;
  private readonly theirs: InMemoryTransport;

  constructor() {
    [this.own, this.theirs] = InMemoryTransport.createLinkedPair();
    this.own.onmessage = message => {
      const { id, method, params } = message as Message;
      if (id !== undefined)
        void this.own.send({ jsonrpc: '2.0', id, result: this.answer(method, params?.name) });
    };
  }

  async connect(): Promise<Client> {
    await this.own.start();
    await this.client.connect(this.theirs);
    return this.client;
  }

  async tellOfChange(): Promise<void> {
    await this.own.send({ jsonrpc: '2.0', method: 'notifications/interceptors/list_changed' });
  }

  private answer(method: string, name: string | undefined): Record<string, unknown> {
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: '2025-11-25',
          capabilities: {},
          serverInfo: { name: 'host', version: '1' },
        };
      case 'interceptors/list':
        this.lists++;
        return { interceptors: this.interceptors.map(descriptor) };
      default:
        return { valid: name !== 'second' };
    }
  }
}

it('a host that says over the wire that its interceptors have changed is listed again', async () => {
  const host = new HandmadeHost();
  const client = await host.connect();
  const test = await startApp([Shop], { mcp: { interceptors: { servers: [{ name: 'rules', client }] } } });
  const caller = await test.client();
  expect(textOf(await caller.callTool({ name: 'open' }))).toBe('open');
  expect(textOf(await caller.callTool({ name: 'open' }))).toBe('open');
  expect(host.lists).toBe(1);
  host.interceptors.push('second');
  await host.tellOfChange();
  await expect(caller.callTool({ name: 'open' })).rejects.toMatchObject({ code: -32602 });
  expect(host.lists).toBe(2);
  await test.close();
  await client.close();
});

it('all who share one client are told of a change, until they close', async () => {
  const host = new HandmadeHost();
  const client = await host.connect();
  const apps = await Promise.all(
    ['one', 'two', 'three'].map(async () => {
      const test = await startApp([Shop], {
        mcp: { interceptors: { servers: [{ name: 'rules', client }] } },
      });
      const caller = await test.client();
      return {
        open: () => caller.callTool({ name: 'open' }).then(textOf, ({ code }: { code: number }) => code),
        close: () => test.close(),
      };
    }),
  );
  const openAll = () => Promise.all(apps.map(({ open }) => open()));
  expect(await openAll()).toEqual(['open', 'open', 'open']);
  await apps.pop()!.close();
  host.interceptors.push('second');
  await host.tellOfChange();
  expect(await openAll()).toEqual([-32602, -32602]);
  expect(host.lists).toBe(5);
  await Promise.all(apps.map(({ close }) => close()));
  await client.close();
});

it('a client that nobody watches any more is watched anew', async () => {
  const host = new HandmadeHost();
  const client = await host.connect();
  const first = await InterceptorChain.discover([{ name: 'rules', client }]);
  first.close();
  // The application's own, in the meantime.
  client.setNotificationHandler(
    'notifications/interceptors/list_changed',
    { params: { '~standard': { version: 1, vendor: 'test', validate: value => ({ value }) } } },
    () => undefined,
  );
  const test = await startApp([Shop], { mcp: { interceptors: { servers: [{ name: 'rules', client }] } } });
  const caller = await test.client();
  expect(textOf(await caller.callTool({ name: 'open' }))).toBe('open');
  host.interceptors.push('second');
  await host.tellOfChange();
  await expect(caller.callTool({ name: 'open' })).rejects.toMatchObject({ code: -32602 });
  await test.close();
  await client.close();
});

it('a listing that spans a restart of its host is not believed', async () => {
  let restarts = 0;
  let lists = 0;
  const session = () => `session-${restarts}`;
  const answer = (method: string, params: { cursor?: string; name?: string }): object => {
    if (method === 'initialize') {
      return {
        protocolVersion: '2025-11-25',
        capabilities: {},
        serverInfo: { name: 'host', version: '1' },
      };
    }
    if (method === 'interceptor/invoke') return { valid: params.name !== 'guard' };
    lists++;
    if (params.cursor !== undefined) return { interceptors: [descriptor('last')] };
    const names = restarts === 0 ? ['first'] : ['first', 'guard'];
    return { interceptors: names.map(descriptor), nextCursor: 'more' };
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      const { id, method, params = {} } = JSON.parse(Buffer.concat(chunks).toString()) as Message;
      if (method !== 'initialize' && request.headers['mcp-session-id'] !== session()) {
        return void response.writeHead(404).end();
      }
      if (id === undefined) return void response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': session() });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answer(method, params) }));
      // Another process takes its place after the first page, and knows nothing of the session.
      if (method === 'interceptors/list' && restarts === 0) restarts++;
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const test = await startApp([Shop], {
    mcp: { interceptors: { servers: [{ name: 'rules', url, era: 'legacy' }] } },
  });
  const caller = await test.client();
  await expect(caller.callTool({ name: 'open' })).rejects.toMatchObject({ code: -32602 });
  expect(lists).toBe(4);
  await test.close();
  server.closeAllConnections();
  server.close();
});
