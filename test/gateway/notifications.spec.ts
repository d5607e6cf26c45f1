import { Injectable } from '@nestjs/common';
import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server';
import { deny, Mutator, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { Inbox } from '../fixtures/inbox.js';
import { backendModule } from './backend-app.js';
import { connect, listen, startGateway } from './support.js';

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
