import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
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
  readonly params?: { readonly name?: string };
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
