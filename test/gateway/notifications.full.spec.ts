import { Injectable } from '@nestjs/common';
import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server';
import { deny, Mutator, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { paced } from '../../lib/gateway/session-connection.js';
import { Inbox } from '../fixtures/inbox.js';
import { backendModule } from './backend-app.js';
import { connect, ERAS, listen, startGateway } from './support.js';

type Log = InterceptorInvocation<{ data?: unknown; message?: string }>;

@Injectable()
class Policy {
  @Mutator({ events: ['notifications/*'] })
  stars({ payload }: Log) {
    return JSON.parse(JSON.stringify(payload).replace('half', '***')) as object;
  }

  @Validator({ events: ['notifications/message'] })
  polite({ payload }: Log) {
    return !JSON.stringify(payload).includes('rude') || deny('Be polite');
  }
}

const INFO = { 'io.modelcontextprotocol/logLevel': 'info' };

describe('changes of lists that a backend reports', () => {
  const TOOLS = 'notifications/tools/list_changed';

  it('are passed on at once, and then once a second', () => {
    jest.useFakeTimers();
    const told: [string, unknown][] = [];
    const tell = paced((method, { at }) => told.push([method, at]), 1000);
    for (let at = 0; at < 2000; at++) {
      tell('tools', { at });
      tell('prompts', { at });
      jest.advanceTimersByTime(1);
    }
    jest.advanceTimersByTime(10_000);
    tell('tools', { at: 12_000 });
    jest.advanceTimersByTime(10_000);
    expect(told.filter(([method]) => method === 'tools')).toEqual([
      ['tools', 0],
      ['tools', 999],
      ['tools', 1999],
      ['tools', 12_000],
    ]);
    expect(told).toHaveLength(7);
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it.each(ERAS)('do not flood the %s clients of a gateway', async era => {
    const servers = new Inbox<McpServer>();
    const transport = async () => {
      const [near, far] = InMemoryTransport.createLinkedPair();
      const capabilities = { tools: { listChanged: true }, logging: {} };
      const server = new McpServer({ name: 'memory', version: '1' }, { capabilities });
      server.server.setRequestHandler('tools/list', () => ({ tools: [] }));
      server.server.oninitialized = () => servers.put(server);
      await server.connect(far);
      return near;
    };
    const gateway = await startGateway({ backend: { transport, era: 'legacy' } });
    const seen = new Inbox<string>();
    let count = 0;
    const client = await connect(gateway.url, era, {
      prepare: one =>
        one.setNotificationHandler(TOOLS, () => {
          count += 1;
          seen.put(TOOLS);
        }),
    });
    if (era === 'modern') await client.listen({ toolsListChanged: true });
    const server = await servers.take();
    const own = era === 'legacy' ? await servers.take() : server;
    for (let times = 0; times < 200; times++) await own.server.notification({ method: TOOLS });
    // The first, and one for all others.
    await seen.take();
    await seen.take();
    expect(count).toBe(2);
    await client.close();
    await gateway.app.close();
  });
});

describe('progress and log messages that a gateway hands on', () => {
  it('pass its chain during a call', async () => {
    const backend = await listen(backendModule());
    const gateway = await startGateway({ backend: { url: backend.url } }, [Policy]);
    const client = await connect(gateway.url, 'modern');
    const seen: unknown[] = [];
    client.setNotificationHandler('notifications/message', ({ params }) => void seen.push(params.data));
    await client.callTool({ name: 'progress' }, { onprogress: ({ message }) => seen.push(message) });
    await client.callTool({ name: 'logs', arguments: { text: 'rude' }, _meta: INFO });
    await client.callTool({ name: 'logs', arguments: { text: 'half' }, _meta: INFO });
    expect(seen).toEqual(['***', 'all', '***']);
    await client.close();
    await gateway.app.close();
    await backend.app.close();
  });

  it('pass its chain where they belong to no call', async () => {
    const servers = new Inbox<McpServer>();
    const transport = async () => {
      const [near, far] = InMemoryTransport.createLinkedPair();
      const server = new McpServer(
        { name: 'memory', version: '1' },
        { capabilities: { logging: {}, resources: { subscribe: true } } },
      );
      const log = (data: string) => server.sendLoggingMessage({ level: 'info', data });
      server.server.setRequestHandler('resources/unsubscribe', async () => {
        await log('half unsubscribed');
        return {};
      });
      server.server.setRequestHandler('resources/subscribe', () => ({}));
      server.server.oninitialized = () => servers.put(server);
      await server.connect(far);
      return near;
    };
    const gateway = await startGateway({ backend: { transport, era: 'legacy' } }, [Policy]);
    const seen = new Inbox<unknown>();
    const client = await connect(gateway.url, 'legacy', {
      prepare: one =>
        one.setNotificationHandler('notifications/message', ({ params }) => seen.put(params.data)),
    });
    const found = [await servers.take(), await servers.take()];
    for (const data of ['rude', 'half', 'last']) {
      for (const one of found) await one.sendLoggingMessage({ level: 'info', data });
    }
    expect([await seen.take(), await seen.take()]).toEqual(['***', 'last']);
    await client.subscribeResource({ uri: 'state://a' });
    await client.unsubscribeResource({ uri: 'state://a' });
    expect(await seen.take()).toBe('*** unsubscribed');
    await client.close();
    await gateway.app.close();
  });
});
