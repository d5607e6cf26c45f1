import type { Server } from 'node:http';
import { runInThisContext } from 'node:vm';
import type { Client } from '@modelcontextprotocol/client';
import type { SubscriptionFilter } from '@modelcontextprotocol/server';
import { Subscriptions } from '../../lib/gateway/subscriptions.js';
import { Inbox } from '../fixtures/inbox.js';
import { backendModule } from './backend-app.js';
import { fakeBackend, type FakeCall } from './fake-backend.js';
import { connect, listen, outcomeOf, startGateway } from './support.js';

/** The one that Node warns on: Jest gives tests a copy. */
const realProcess = runInThisContext('process') as NodeJS.Process;

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

/** Agrees to what a client wants to listen to. */
function agree({ id, params, send }: FakeCall): void {
  const { notifications } = params as { notifications: object };
  send({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications, _meta: { [SUBSCRIPTION_ID]: id } },
  });
}

describe('what clients listen to behind a gateway', () => {
  it('is a few streams to the backend, however many resources one of them names', async () => {
    const backend = await listen(backendModule());
    const gateway = await startGateway({ backend: { url: backend.url } });
    const connections = () =>
      new Promise<number>((resolve, reject) => {
        const server = backend.app.getHttpServer() as Server;
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      });
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => warnings.push(name);
    realProcess.on('warning', onWarning);
    const client = await connect(gateway.url, 'modern');
    const uris = Array.from({ length: 1000 }, (_, index) => `user://${index}`);
    const many = await client.listen({ resourceSubscriptions: uris });
    expect(await connections()).toBeLessThan(30);
    // And nobody else is kept from it.
    const updated = new Inbox<string>();
    const other = await connect(gateway.url, 'modern');
    other.setNotificationHandler('notifications/resources/updated', ({ params }) => updated.put(params.uri));
    const one = await other.listen({ resourceSubscriptions: ['state://a'] });
    await other.callTool({ name: 'touch' });
    expect(await updated.take()).toBe('state://a');
    realProcess.off('warning', onWarning);
    expect(warnings).toEqual([]);
    await many.close();
    await one.close();
    await client.close();
    await other.close();
    await gateway.app.close();
    await backend.app.close();
  });

  it('is agreed to for nobody before the backend has agreed', async () => {
    const asked = new Inbox<FakeCall>();
    const backend = await fakeBackend(
      { 'subscriptions/listen': asked.put, 'resources/list': ({ reply }) => reply({ resources: [] }) },
      'modern',
      { resources: { subscribe: true } },
    );
    const gateway = await startGateway({ backend: { url: backend.url } });
    const client = await connect(gateway.url, 'modern');
    const listenTo = () => outcomeOf(client.listen({ resourceSubscriptions: ['a://b'] }));
    const first = listenTo();
    const { id, response } = await asked.take();
    const second = listenTo();
    const settled = new Inbox<unknown>();
    void second.then(settled.put);
    // Whatever comes after it, over the same way, has been worked on.
    await client.listResources();
    expect(settled.size).toBe(0);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'No' } }));
    expect([await first, await second]).toMatchObject([{ message: 'No' }, { message: 'No' }]);
    expect(asked.size).toBe(0);
    await client.close();
    await gateway.app.close();
    backend.close();
  });

  it('is agreed to only as far as the backend honours it', async () => {
    const backend = await fakeBackend(
      {
        'subscriptions/listen': call =>
          agree({ ...call, params: { notifications: { resourceSubscriptions: ['a://told'] } } }),
      },
      'modern',
      { resources: { subscribe: true } },
    );
    const gateway = await startGateway({ backend: { url: backend.url } });
    const client = await connect(gateway.url, 'modern');
    const legacy = await connect(gateway.url, 'legacy');
    const message = 'The server behind this gateway does not report changes of a://not';
    const told = { resourceSubscriptions: ['a://told'] };
    for (const [uris, honored] of [
      [['a://told', 'a://not'], told],
      [['a://not'], {}],
    ] as const) {
      const { honoredFilter } = await client.listen({ resourceSubscriptions: [...uris] });
      expect(honoredFilter).toEqual(honored);
      for (const uri of uris) {
        const subscribed = await outcomeOf(legacy.subscribeResource({ uri }));
        expect(subscribed).toMatchObject(uri === 'a://not' ? { code: -32000, message } : {});
      }
    }
    await client.close();
    await legacy.close();
    await gateway.app.close();
    backend.close();
  });

  it('is refused by a backend that asks for input before the caller may read', async () => {
    const requestState = 'asked';
    const backend = await fakeBackend(
      {
        'subscriptions/listen': agree,
        'resources/read': ({ reply }) => reply({ resultType: 'input_required', requestState }),
      },
      'modern',
      { resources: { subscribe: true } },
    );
    const gateway = await startGateway({ backend: { url: backend.url, tokenFor: () => 'token' } });
    const client = await connect(gateway.url, 'modern');
    const legacy = await connect(gateway.url, 'legacy');
    const refusal = { code: -32000, message: expect.stringContaining('asks for input') };
    expect(await outcomeOf(client.listen({ resourceSubscriptions: ['a://b'] }))).toMatchObject(refusal);
    expect(await outcomeOf(legacy.subscribeResource({ uri: 'a://b' }))).toMatchObject(refusal);
    await client.close();
    await legacy.close();
    await gateway.app.close();
    backend.close();
  });

  it('is asked for again where a stream that was opened anew does not have it any more', async () => {
    const asked: (readonly string[])[] = [];
    const open = () =>
      ({
        getProtocolEra: () => 'modern',
        listen: async (filter: SubscriptionFilter) => {
          asked.push(filter.resourceSubscriptions!);
          return { honoredFilter: filter, closed: new Promise(() => {}), close: async () => {} };
        },
      }) as unknown as Client;
    let current = open();
    const connection = { client: async () => current, request: async () => ({}) };
    const subscriptions = new Subscriptions(connection, () => {});
    const { signal } = new AbortController();
    const [, end] = await Promise.all(['a://a', 'a://b'].map(uri => subscriptions.add(uri, 'one', signal)));
    end();
    current = open();
    subscriptions.reopen(current);
    await subscriptions.add('a://b', 'two', signal);
    expect(asked).toEqual([['a://a', 'a://b'], ['a://a'], ['a://b']]);
  });

  it('is told of by the backend that it was asked of, and by no other', async () => {
    const streams = new Inbox<FakeCall>();
    const resources = (uri: string) => ({
      'resources/list': ({ reply }: FakeCall) => reply({ resources: [{ uri, name: uri }] }),
      'resources/templates/list': ({ reply }: FakeCall) => reply({ resourceTemplates: [] }),
      'subscriptions/listen': (call: FakeCall) => {
        agree(call);
        streams.put(call);
      },
    });
    const capabilities = { resources: { subscribe: true, listChanged: true } };
    const mine = await fakeBackend(resources('a://mine'), 'modern', capabilities);
    const evil = await fakeBackend(resources('a://evil'), 'modern', capabilities);
    const gateway = await startGateway({ backends: { mine: { url: mine.url }, evil: { url: evil.url } } });
    const client = await connect(gateway.url, 'modern');
    const updated = new Inbox<unknown>();
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => updated.put(params.uri));
    const subscription = await client.listen({ resourceSubscriptions: ['a://mine', 'a://evil'] });
    const all = [await streams.take(), await streams.take(), await streams.take(), await streams.take()];
    const wanted = ({ params }: FakeCall) => JSON.stringify(params['notifications']);
    const update = (of: string, uri: string) => {
      const call = all.find(one => wanted(one).includes(of))!;
      call.send({
        method: 'notifications/resources/updated',
        params: { uri, _meta: { [SUBSCRIPTION_ID]: call.id } },
      });
    };
    update('a://evil', 'a://mine');
    update('a://evil', 'a://evil');
    expect(await updated.take()).toBe('a://evil');
    update('a://mine', 'a://mine');
    expect(await updated.take()).toBe('a://mine');
    await subscription.close();
    await client.close();
    await gateway.app.close();
    mine.close();
    evil.close();
  });
});
