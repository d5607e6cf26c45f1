import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { McpTasksModule } from 'nestjs-mcp/tasks';
import { deferred, type Deferred } from '../fixtures/deferred.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { EXTENSION, send } from './task-client.js';

type Message = { method?: string; params?: Record<string, unknown>; error?: { code: number } };

let gate: Deferred<string>;

@Injectable()
class Work {
  @Tool({ task: 'optional' })
  async work(@Ctx() ctx: McpContext) {
    ctx.task?.status('Working');
    return gate.promise;
  }
}

describe('subscriptions/listen with taskIds', () => {
  let app: TestApp;
  let url: string;
  const over = new AbortController();

  beforeAll(async () => {
    app = await startApp([Work], { module: { imports: [McpTasksModule.forRoot()] } });
    url = await app.url();
  });
  beforeEach(() => (gate = deferred()));
  afterAll(async () => {
    over.abort();
    await app.close();
  });

  async function* listen(taskIds: unknown, declares = true): AsyncGenerator<Message> {
    const response = await fetch(url, {
      method: 'POST',
      signal: over.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'subscriptions/listen',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 7,
        method: 'subscriptions/listen',
        params: {
          notifications: { taskIds },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1.0.0' },
            'io.modelcontextprotocol/clientCapabilities': declares ? { extensions: { [EXTENSION]: {} } } : {},
          },
        },
      }),
    });
    if (response.headers.get('content-type')?.includes('json')) {
      yield (await response.json()) as Message;
      return;
    }
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const events = text.split('\n\n');
      text = events.pop()!;
      for (const event of events) {
        const data = event.split('\n').find(line => line.startsWith('data: '));
        if (data) yield JSON.parse(data.slice(6)) as Message;
      }
    }
  }

  const next = async (messages: AsyncGenerator<Message>): Promise<Message> =>
    (await messages.next()).value as Message;

  it('reports the task at once, and after each change', async () => {
    const { result } = await send(url, 'tools/call', { name: 'work', arguments: {} });
    const { taskId } = result!;
    const messages = listen([taskId, 'unknown']);
    expect(await next(messages)).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [taskId] } },
    });
    let message = await next(messages);
    expect(message).toMatchObject({ method: 'notifications/tasks', params: { taskId, status: 'working' } });
    gate.resolve('done');
    while (message.params?.['status'] === 'working') message = await next(messages);
    const { _meta, ...params } = message.params!;
    const { resultType: _type, _meta: _own, ...task } = (await send(url, 'tasks/get', { taskId })).result!;
    expect(params).toEqual(task);
    expect(params).toMatchObject({ status: 'completed', result: { content: [{ text: 'done' }] } });
    expect(_meta).toEqual({ 'io.modelcontextprotocol/subscriptionId': 7 });
  });

  it.each([
    ['more than 100 ids', Array.from({ length: 101 }, (_, index) => `${index}`), true, -32602],
    ['what is not a list of ids', [17], true, -32602],
    ['a client that has not declared the extension', ['x'], false, -32021],
  ])('refuses %s', async (_, ids, declares, code) => {
    expect(await next(listen(ids, declares))).toMatchObject({ error: { code } });
  });
});
