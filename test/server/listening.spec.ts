import { Inject, Injectable, Module } from '@nestjs/common';
import { MissingRequiredClientCapabilityError, type SubscriptionFilter } from '@modelcontextprotocol/server';
import { McpServerRegistry, Resource, Tool, type ServerExtension } from 'nestjs-mcp';
import { McpCoreModule } from '../../lib/module/mcp-core.module.js';
import { MCP_SERVERS, type McpServers } from '../../lib/module/mcp-servers.js';
import type { ReplyChannel } from '../../lib/protocol/mcp-call.js';
import { listenHeaders, listenMessage } from '../auth/raw-caller.js';
import { EventReader } from '../fixtures/event-reader.js';
import { Inbox } from '../fixtures/inbox.js';
import { platforms, startApp, type TestApp } from '../fixtures/matrix.js';

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
const JOBS = 'com.acme/jobs';

/** The clients that watch a job, by its id. */
const watchers = new Map<string, Set<ReplyChannel['notify']>>();
let ended: Inbox<string>;

/** Reports the progress of jobs. Nobody may watch the job `secret`. */
const jobs: ServerExtension = {
  id: JOBS,
  listen: async ({ jobIds }, { clientCapabilities }) => {
    if (jobIds === undefined) return undefined;
    if (!clientCapabilities?.extensions?.[JOBS]) {
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [JOBS]: {} } },
      });
    }
    const known = (jobIds as string[]).filter(id => id !== 'secret');
    return {
      accepted: { jobIds: known },
      open(notify) {
        for (const id of known) watchers.set(id, (watchers.get(id) ?? new Set()).add(notify));
        return () => {
          for (const id of known) watchers.get(id)!.delete(notify);
          ended.put('extension');
        };
      },
    };
  },
  stages: method =>
    method === 'subscriptions/listen'
      ? {
          intercept:
            next =>
            (...asked) =>
              next(...asked).finally(() => ended.put('stage')),
        }
      : undefined,
};

const post = (url: string, notifications: object) =>
  fetch(url, {
    method: 'POST',
    headers: listenHeaders(),
    body: JSON.stringify(listenMessage(notifications)),
  });

@Module({ imports: [McpCoreModule] })
class JobsModule {
  constructor(@Inject(MCP_SERVERS) servers: McpServers) {
    servers.extend({ where: 'JobsModule', create: () => jobs });
  }
}

@Injectable()
class Handlers {
  @Tool()
  hello() {
    return 'hello';
  }

  @Resource({ uri: 'state://a' })
  state() {
    return 'on';
  }
}

describe.each(platforms())('subscriptions/listen on %s', platform => {
  let test: TestApp;
  const start = async (keepAliveMs = 0) => {
    test = await startApp([Handlers], {
      platform,
      module: { imports: [JobsModule] },
      mcp: { http: { keepAliveMs } },
    });
    return test.url();
  };
  beforeEach(() => (ended = new Inbox()));
  afterEach(() => test.close());

  it('reports what an extension accepts, beside the changes of the server, until the client ends it', async () => {
    await start();
    const client = await test.client({ capabilities: { extensions: { [JOBS]: {} } } });
    const received = new Inbox<unknown>();
    client.fallbackNotificationHandler = async ({ method, params }) => received.put({ method, params });
    const filter = { toolsListChanged: true, jobIds: ['1', 'secret'] } as SubscriptionFilter;
    const subscription = await client.listen(filter);
    expect([...watchers.keys()]).toEqual(['1']);
    for (const notify of watchers.get('1')!) await notify('notifications/jobs', { id: '1', done: 7 });
    await test.app.get(McpServerRegistry).add('tool', { name: 'late' }, () => 'late');
    const _meta = { [SUBSCRIPTION_ID]: expect.anything() };
    expect([await received.take(), await received.take()]).toEqual([
      { method: 'notifications/jobs', params: { id: '1', done: 7, _meta } },
      { method: 'notifications/tools/list_changed', params: { _meta } },
    ]);
    await subscription.close();
    expect([await ended.take(), await ended.take()]).toEqual(['extension', 'stage']);
    expect(watchers.get('1')!.size).toBe(0);
  });

  it('acknowledges what an extension accepts', async () => {
    const filter = { toolsListChanged: true, jobIds: ['1', 'secret'] };
    const { params, ...message } = listenMessage(filter) as { params: { _meta: object } };
    const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { extensions: { [JOBS]: {} } } };
    const _meta = { ...params._meta, ...capabilities };
    const asking = { ...message, params: { ...params, _meta } };
    const stream = await EventReader.open(await start(), listenHeaders(), asking);
    expect((await stream.message())?.message).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true, jobIds: ['1'] }, _meta: { [SUBSCRIPTION_ID]: 1 } },
    });
    stream.cut();
    expect([await ended.take(), await ended.take()]).toEqual(['extension', 'stage']);
  });

  it('is refused by an extension with the HTTP status of its error', async () => {
    const url = await start();
    const answer = await post(url, { toolsListChanged: true, jobIds: ['1'] });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: -32021 } }]);
    expect(await ended.take()).toBe('stage');
  });

  it('has only the filter of the server without fields of the extension', async () => {
    await start();
    const client = await test.client();
    const filter = { toolsListChanged: false, resourceSubscriptions: ['state://a'] };
    const { honoredFilter } = await client.listen(filter);
    expect(honoredFilter).toEqual({ resourceSubscriptions: ['state://a'] });
  });

  it('sends comments while nothing changes', async () => {
    const answer = await post(await start(5), { toolsListChanged: true });
    const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.endsWith(': keepalive\n\n: keepalive\n\n')) text += (await reader.read()).value;
    expect(text).toMatch(
      /^event: message\ndata: .*"notifications\/subscriptions\/acknowledged".*\n\n: keepalive/,
    );
    await reader.cancel();
  });
});
