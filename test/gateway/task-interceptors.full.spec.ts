import { Injectable } from '@nestjs/common';
import { deny, Mutator, respondWith, Sink, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import type { McpGatewayOptions } from 'nestjs-mcp/gateway';
import { createTestClient, type TestClient, type TestClientOptions } from 'nestjs-mcp/testing';
import { deferred } from '../fixtures/deferred.js';
import { textOf } from '../fixtures/matrix.js';
import { send } from '../tasks/task-client.js';
import { outcomeOf, startGateway, type Running } from './support.js';
import { startTaskBackend, type TaskBackend } from './task-backend.js';

@Injectable()
class Policy {
  /** The results that interceptors have seen, each with the request that they were shown for it. */
  readonly seen: unknown[] = [];

  @Sink({ events: ['tools/call'], phase: 'response' })
  note({ payload, request }: InterceptorInvocation<'tools/call', 'response'>) {
    this.seen.push({ text: textOf(payload), request });
  }

  @Mutator({ events: ['tools/call'], phase: 'response' })
  hide({ payload }: InterceptorInvocation<'tools/call', 'response'>) {
    const text = JSON.stringify(payload);
    return text.includes('secret') ? (JSON.parse(text.replace('secret', '***')) as object) : undefined;
  }

  @Validator({ events: ['tools/call'], phase: 'response' })
  polite({ payload }: InterceptorInvocation<'tools/call', 'response'>) {
    return !JSON.stringify(payload).includes('rude') || deny('Be polite');
  }

  @Mutator({ events: ['elicitation/create'], phase: 'both', priority: { request: 1, response: 1 } })
  words({ payload, phase }: InterceptorInvocation) {
    const text = JSON.stringify(payload);
    const [from, to] = phase === 'request' ? ['second?', 'The second, please?'] : ['bad', 'good'];
    return text.includes(from) ? (JSON.parse(text.replace(from, to)) as object) : undefined;
  }
}

@Injectable()
class Answering {
  @Mutator({ events: ['elicitation/create'], phase: 'request' })
  answer({ payload }: InterceptorInvocation<'elicitation/create', 'request'>) {
    return payload.message === 'first?'
      ? respondWith({ action: 'accept', content: { name: 'of the house' } })
      : undefined;
  }
}

@Injectable()
class Silent {
  @Validator({ events: ['elicitation/create'] })
  never() {
    return deny('No questions');
  }
}

@Injectable()
class Discreet {
  @Validator({ events: ['notifications/progress'] })
  check({ payload }: InterceptorInvocation<'notifications/progress', 'request'>) {
    return payload.message !== 'Working' || deny('Not that');
  }
}

@Injectable()
class Faulty {
  faults: (() => unknown)[] = [];

  @Validator({ events: ['tools/call', 'elicitation/create'], phase: 'both', timeoutMs: 20 })
  check({ event, phase }: InterceptorInvocation) {
    if (event === 'tools/call' && phase === 'request') return true;
    return (this.faults.shift()?.() ?? true) as true;
  }
}

const FAULTS = {
  crashes: () => {
    throw new Error('a secret of the policy');
  },
  'is too slow': () => new Promise<never>(() => undefined),
};

describe('the interceptors of a gateway, around tasks', () => {
  let backend: TaskBackend;
  const open: (() => unknown)[] = [];
  beforeAll(async () => void (backend = await startTaskBackend()));
  beforeEach(() => Object.assign(backend.works, { gate: deferred(), entered: deferred() }));
  afterEach(async () => {
    backend.works.gate.resolve('over');
    for (const close of open.splice(0).reverse()) await close();
  });
  afterAll(() => backend.app.close());

  async function gatewayWith(
    provider: new () => object,
    interceptors: McpGatewayOptions['interceptors'] = {},
  ): Promise<Running> {
    const options = { backend: { url: backend.url }, interceptors };
    const gateway = await startGateway(options, [provider]);
    open.push(() => gateway.app.close());
    return gateway;
  }

  async function clientOf({ app }: Running, options: TestClientOptions = {}): Promise<TestClient> {
    const client = await createTestClient(app, options);
    open.push(() => client.close());
    return client;
  }

  it('see the final result, with the name of the tool', async () => {
    const gateway = await gatewayWith(Policy);
    const client = await clientOf(gateway);
    const task = await client.startTool({ name: 'work', arguments: {} });
    backend.works.gate.resolve('a secret');
    expect(textOf(await task.result())).toBe('a ***');
    expect(gateway.app.get(Policy).seen).toEqual([{ text: 'a ***', request: { name: 'work' } }]);
  });

  it('see the result in a notification, too', async () => {
    const gateway = await gatewayWith(Policy);
    const client = await clientOf(gateway);
    const ended = deferred<unknown>();
    client.fallbackNotificationHandler = async ({ params }) => {
      if (params?.['status'] === 'completed') ended.resolve(params['result']);
    };
    const task = await client.startTool({ name: 'work', arguments: {} });
    await client.listen({ taskIds: [task.id] } as never);
    backend.works.gate.resolve('a secret');
    expect(textOf((await ended.promise) as never)).toBe('a ***');
  });

  it('leave out a refused status message, from the first answer on', async () => {
    const { url } = await gatewayWith(Discreet);
    const created = await send(url, 'tools/call', { name: 'work', arguments: {} });
    const { result } = await send(url, 'tasks/get', { taskId: created.result!.taskId });
    expect(result).toMatchObject({ status: 'working' });
    expect(JSON.stringify([created, result])).not.toContain('Working');
    const open = await gatewayWith(Policy);
    const { taskId } = (await send(open.url, 'tools/call', { name: 'work', arguments: {} })).result!;
    expect((await send(open.url, 'tasks/get', { taskId })).result).toMatchObject({
      statusMessage: 'Working',
    });
  });

  it('refuse the result', async () => {
    const refused = await clientOf(await gatewayWith(Policy));
    const task = await refused.startTool({ name: 'work', arguments: {} });
    backend.works.gate.resolve('rude');
    expect(await outcomeOf(task.result())).toMatchObject({
      code: -32602,
      data: { validationErrors: [{ message: 'Be polite' }] },
    });
    expect(await task.status()).toMatchObject({ status: 'failed' });
    const read = await clientOf(await gatewayWith(Policy, { denial: 'tool-error' }));
    expect(await read.callTool({ name: 'work', arguments: {} })).toMatchObject({ isError: true });
  });

  it('change input requests and their answers', async () => {
    const messages: string[] = [];
    const client = await clientOf(await gatewayWith(Policy), {
      onElicit: ({ message }) => {
        messages.push(message);
        return { action: 'accept', content: { name: 'bad' } };
      },
    });
    expect(textOf(await client.callTool({ name: 'asks', arguments: {} }))).toBe('accept good, accept good');
    expect(new Set(messages)).toEqual(new Set(['first?', 'The second, please?']));
  });

  it('answer input requests in place of the client', async () => {
    const { url } = await gatewayWith(Answering);
    const { taskId } = (await send(url, 'tools/call', { name: 'asks', arguments: {} })).result!;
    const get = async () => (await send(url, 'tasks/get', { taskId })).result!;
    expect(Object.keys((await get())['inputRequests']!)).toEqual(['second']);
    const inputResponses = { second: { action: 'accept' as const, content: { name: 'of the client' } } };
    await send(url, 'tasks/update', { taskId, inputResponses });
    const client = await clientOf(await gatewayWith(Answering), { onElicit: () => inputResponses.second });
    const result = await client.callTool({ name: 'asks', arguments: {} });
    expect(textOf(result)).toBe('accept of the house, accept of the client');
  });

  it.each(Object.entries(FAULTS))('do not fail a task whose validator %s', async (_, fault) => {
    const gateway = await gatewayWith(Faulty);
    const policy = gateway.app.get(Faulty);
    const { taskId } = (await send(gateway.url, 'tools/call', { name: 'work', arguments: {} })).result!;
    const client = await clientOf(gateway);
    const task = await client.startTool({ name: 'work', arguments: {} });
    backend.works.gate.resolve('done');
    expect(textOf(await task.result())).toBe('done');
    policy.faults.push(fault);
    const faulty = await send(gateway.url, 'tasks/get', { taskId });
    expect(faulty).toMatchObject({
      status: 503,
      error: { code: -32000, message: 'An interceptor failed, or was too slow; try again later' },
    });
    expect(faulty.headers.get('retry-after')).toBe('1');
    const { result } = await send(gateway.url, 'tasks/get', { taskId });
    expect(result).toMatchObject({ status: 'completed', result: { content: [{ text: 'done' }] } });
    const asking = await send(gateway.url, 'tools/call', { name: 'asks', arguments: {} });
    policy.faults.push(fault);
    const get = () => send(gateway.url, 'tasks/get', { taskId: asking.result!.taskId });
    expect(await get()).toMatchObject({ status: 503 });
    expect((await get()).result).toMatchObject({ status: 'input_required' });
  });

  it('make a client wait for the result that a validator could not check', async () => {
    const gateway = await gatewayWith(Faulty);
    const client = await clientOf(gateway);
    const task = await client.startTool({ name: 'work', arguments: {} });
    gateway.app.get(Faulty).faults.push(FAULTS.crashes);
    backend.works.gate.resolve('done');
    expect(textOf(await task.result())).toBe('done');
    expect(gateway.app.get(Faulty).faults).toEqual([]);
  });

  it('refuse input requests', async () => {
    const { url } = await gatewayWith(Silent);
    const { taskId } = (await send(url, 'tools/call', { name: 'asks', arguments: {} })).result!;
    const { error } = await send(url, 'tasks/get', { taskId });
    expect(error).toMatchObject({ code: -32602, data: { validationErrors: [{ message: 'No questions' }] } });
  });
});
