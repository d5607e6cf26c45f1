import { Injectable, type INestApplication } from '@nestjs/common';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Ctx, McpContext, McpModule, McpServerRegistry, MemoryEventStore, Resource, Tool } from 'nestjs-mcp';
import { MemoryMessageBus, MemorySessionStore } from 'nestjs-mcp/testing';
import { SHARED } from '../../lib/stores/shared-state.js';
import { Inbox } from '../fixtures/inbox.js';
import { textOf } from '../fixtures/matrix.js';
import { post, SESSION_HEADERS } from '../fixtures/raw-session.js';
import { startReference } from '../suites/differential/reference.js';
import { listen, startGateway, type Running } from './support.js';

const URI = 'shop://prices';

const FORM = {
  message: 'Which size?',
  schema: { type: 'object', properties: { size: { type: 'string' } } },
} as const;

@Injectable()
class Shop {
  @Tool()
  session(@Ctx() { sessionId }: McpContext) {
    return sessionId;
  }

  @Tool()
  async ask(@Ctx() ctx: McpContext) {
    const { action } = await ctx.elicit('size', FORM);
    return action;
  }

  @Resource({ uri: URI })
  prices() {
    return '1';
  }
}

class ShopModule {}
const shop = () => ({
  module: ShopModule,
  imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })],
  providers: [Shop],
});

interface Backend {
  readonly app: INestApplication;
  readonly url: string;
  close(): Promise<void>;
}

const ours = async (port = 0): Promise<Backend> => {
  const { app, url } = await listen(shop(), port);
  return { app, url, close: () => app.close() };
};

/** Admits one GET stream for a session. */
const sdk = async (): Promise<Backend> => {
  const { app, close } = await ours();
  const reference = await startReference(app, 'sessions');
  return { app, url: reference.url, close: () => reference.close().then(close) };
};

describe.each([
  ['of this package', ours],
  ['of the SDK', sdk],
])('two nodes of a gateway with a 2025-era backend %s', (_, start) => {
  let backend: Backend;
  let nodes: Running[];
  let client: Client;
  let target: number;
  let updated: Inbox<string>;
  let streaming: Inbox<number>;

  /** A node that shares its state, as with `McpRedisModule`. */
  const startNode = (shared: object) => {
    class SharedModule {}
    const providers = [{ provide: SHARED, useValue: shared }];
    const sharing = { module: SharedModule, global: true, providers, exports: [SHARED] };
    return startGateway({ backend: { url: backend.url, era: 'legacy' } }, [], 0, [sharing]);
  };

  beforeEach(async () => {
    backend = await start();
    const shared = {
      bus: new MemoryMessageBus(),
      sessions: new MemorySessionStore(),
      events: new MemoryEventStore(),
    };
    nodes = [await startNode(shared), await startNode(shared)];
    target = 0;
    streaming = new Inbox();
    updated = new Inbox();
    client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => updated.put(params.uri));
    const transport = new StreamableHTTPClientTransport(new URL(nodes[0].url), {
      reconnectionOptions: {
        initialReconnectionDelay: 10,
        maxReconnectionDelay: 100,
        reconnectionDelayGrowFactor: 2,
        maxRetries: 100,
      },
      fetch: async (_, init) => {
        const node = target;
        const response = await fetch(nodes[node].url, init);
        if (init?.method === 'GET' && response.ok) streaming.put(node);
        return response;
      },
    });
    await client.connect(transport);
    await streaming.take();
  });
  afterEach(async () => {
    await client.close();
    await Promise.all(nodes.map(({ app }) => app.close()));
    await backend.close();
  });

  const calledOn = async (node: number, name = 'session') => {
    target = node;
    return textOf(await client.callTool({ name }));
  };
  /** The SDK's server drops what it sends while no node has opened its stream. */
  const updatedUri = async () => {
    do {
      backend.app.get(McpServerRegistry).resourceUpdated(URI);
      await new Promise(setImmediate);
    } while (updated.size === 0);
    return updated.take();
  };
  const isKnown = async (session: string) => {
    const headers = { ...SESSION_HEADERS, 'mcp-session-id': session };
    return (await post(backend.url, headers, { id: 1, method: 'ping' })).ok;
  };

  it('have one session there for one of their own', async () => {
    const [one, other, again] = [await calledOn(0), await calledOn(1), await calledOn(0)];
    expect([other, again]).toEqual([one, one]);
    expect(await calledOn(1, 'ask')).toBe('accept');
  });

  it('pass on what the backend sends of its own accord, from the home of the session', async () => {
    await calledOn(1);
    await client.subscribeResource({ uri: URI });
    expect(await updatedUri()).toBe(URI);
  });

  it('hand the session over when one of them closes', async () => {
    const session = await calledOn(0);
    await client.subscribeResource({ uri: URI });
    target = 1;
    await nodes[0].app.close();
    expect(await streaming.take()).toBe(1);
    expect(await calledOn(1)).toBe(session);
    expect(await updatedUri()).toBe(URI);
  });

  it('end it with their own', async () => {
    const session = await calledOn(0);
    expect(await isKnown(session)).toBe(true);
    target = 1;
    await (client.transport as StreamableHTTPClientTransport).terminateSession();
    while (await isKnown(session));
  });

  it('agree on another one when the backend has forgotten it', async () => {
    const session = await calledOn(1);
    await client.subscribeResource({ uri: URI });
    const headers = { ...SESSION_HEADERS, 'mcp-session-id': session };
    await fetch(backend.url, { method: 'DELETE', headers });
    const next = await calledOn(1);
    expect(next).not.toBe(session);
    expect(await calledOn(0)).toBe(next);
    expect(await updatedUri()).toBe(URI);
  });
});
