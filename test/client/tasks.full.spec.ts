import { Injectable } from '@nestjs/common';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  allow,
  Args,
  Ctx,
  deny,
  inputRequest,
  McpException,
  Tool,
  Validator,
  type InterceptorInvocation,
  type McpContext,
} from 'nestjs-mcp';
import {
  ConnectionError,
  OnElicitation,
  type InputRequestContext,
  type InputRequestTypes,
  type McpClient,
  type McpClientOptions,
  type TaskState,
} from 'nestjs-mcp/client';
import { McpTasksModule, type McpTasksOptions } from 'nestjs-mcp/tasks';
import { deferred, type Deferred } from '../fixtures/deferred.js';
import { startApp, textOf, type TestApp } from '../fixtures/matrix.js';
import { EXTENSION, WatchedTasks } from '../tasks/task-client.js';
import { startClients, type ClientApp } from './fixtures.js';
import { TaskFront } from './task-front.js';

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const TOTAL = { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] } as const;
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

let gate: Deferred<string>;
let entered: Deferred<McpContext>;

@Injectable()
class Works {
  @Tool()
  plain() {
    return 'at once';
  }

  @Tool({ task: 'optional' })
  async work(@Ctx() ctx: McpContext) {
    entered.resolve(ctx);
    return gate.promise;
  }

  @Tool({ task: 'required' })
  needs() {
    return 'as a task';
  }

  @Tool({ task: 'optional', outputSchema: TOTAL })
  sum() {
    return { total: 3 };
  }

  @Tool({ task: 'optional' })
  fails() {
    throw new McpException(-32050, 'Not today', { day: 1 });
  }

  @Tool({ task: 'optional' })
  breaks() {
    throw new Error('secret');
  }

  @Tool({ task: 'optional' })
  async asks(@Args('who') who: string, @Ctx() ctx: McpContext) {
    entered.resolve(ctx);
    const { content } = await ctx.elicit('name', { message: who, schema: NAME });
    return `Hello, ${String(content?.['name'])}`;
  }

  @Tool({ task: 'optional' })
  async asksTwice(@Ctx() ctx: McpContext) {
    const { first, second } = await ctx.askAll({
      first: inputRequest.elicit({ message: 'one', schema: NAME }),
      second: inputRequest.elicit({ message: 'two', schema: NAME }),
    });
    return [first, second].map(({ content }) => String(content?.['name'])).join(' and ');
  }
}

let asked: string[] = [];
let asking: Deferred<AbortSignal>;
let both: Deferred;

@Injectable()
class Answers {
  @OnElicitation('shop')
  async answer({ message }: InputRequestTypes['elicitation/create']['params'], context: InputRequestContext) {
    asked.push(`${message} by ${context.requestId}`);
    asking.resolve(context.signal);
    if (message === 'never') return new Promise<never>(() => undefined);
    if (message === 'broken') throw new McpException(-32042, 'Not now');
    // Two elicitations wait for each other, so they are answered only if both are asked at once.
    if (asked.length === 2) both.resolve();
    if (message === 'one' || message === 'two') await both.promise;
    return { action: 'accept', content: { name: `the ${message}` } };
  }
}

let seen: string[] = [];

@Injectable()
class Chain {
  @Validator({ events: ['*'], phase: 'both' })
  note({ event, phase, payload }: InterceptorInvocation) {
    seen.push(`${event} ${phase}`);
    return phase === 'response' && JSON.stringify(payload).includes('forbidden') ? deny('Not that') : allow();
  }
}

interface Running {
  readonly server: TestApp;
  readonly store: WatchedTasks;
  readonly front: TaskFront;
  readonly clients: ClientApp;
  readonly client: McpClient;
  readonly url: string;
}

let closing: (() => Promise<unknown>)[] = [];

async function startServer(store: WatchedTasks, options: McpTasksOptions = {}): Promise<TestApp> {
  const server = await startApp([Works], {
    forceCloseConnections: true,
    mcp: { mrtr: { secret: 's'.repeat(32) } },
    module: { imports: [McpTasksModule.forRoot({ store, pollIntervalMs: 50, ...options })] },
  });
  closing.push(() => server.close());
  return server;
}

async function start(
  more: (url: string) => Partial<McpClientOptions> = () => ({}),
  options: McpTasksOptions = {},
): Promise<Running> {
  const store = new WatchedTasks();
  const server = await startServer(store, options);
  const front = new TaskFront(await server.url());
  const url = await front.listen();
  closing.push(() => front.close());
  const clients = await startClients([{ name: 'shop', url, ...more(url) }], [Answers, Chain]);
  closing.push(() => clients.close());
  return { server, store, front, clients, client: clients.client(), url };
}

beforeEach(() => {
  gate = deferred();
  entered = deferred();
  asking = deferred();
  both = deferred();
  asked = [];
  seen = [];
});
afterEach(async () => {
  gate.resolve('done');
  for (const close of closing.reverse()) await close();
  closing = [];
});

describe('callTool', () => {
  it('waits for the result of a task, and names the task in the header', async () => {
    const { client, front, store } = await start();
    const called = client.callTool({ name: 'work' });
    await entered.promise;
    gate.resolve('done');
    expect(await called).toEqual({ content: [{ type: 'text', text: 'done' }] });
    const [task] = store.history;
    expect(front.passed.filter(({ method }) => method === 'tasks/get').length).toBeGreaterThan(0);
    for (const { method, params, headers } of front.passed.slice(1)) {
      expect(params._meta[CAPABILITIES]).toMatchObject({ extensions: { [EXTENSION]: {} } });
      if (method === 'tasks/get') expect(headers['mcp-name']).toBe(task.id);
    }
    expect(seen).toEqual(['tools/call request', 'tools/call response']);
  });

  it('gets the result of a tool that needs a task', async () => {
    const { client } = await start();
    expect(textOf(await client.callTool({ name: 'needs' }))).toBe('as a task');
  });

  it('leaves an ordinary result as it is', async () => {
    const { client, front } = await start();
    expect(await client.callTool({ name: 'plain' })).toEqual({
      content: [{ type: 'text', text: 'at once' }],
      _meta: expect.any(Object),
    });
    expect(front.count('tasks/get')).toBe(0);
  });

  it('gets a tool error as a result, and a protocol error as the error', async () => {
    const { client } = await start();
    await expect(client.callTool({ name: 'breaks' })).resolves.toMatchObject({ isError: true });
    await expect(client.callTool({ name: 'fails' })).rejects.toMatchObject({
      name: 'ProtocolError',
      code: -32050,
      message: 'Not today',
      data: { day: 1 },
    });
  });

  it('checks the result of a task against the output schema', async () => {
    const { client, front } = await start();
    await client.listTools();
    expect((await client.callTool({ name: 'sum' })).structuredContent).toEqual({ total: 3 });
    front.rule = {
      change: ({ method }, text) =>
        method === 'tasks/get' ? text.replace('"total":3', '"total":"x"') : text,
    };
    await expect(client.callTool({ name: 'sum' })).rejects.toThrow('output schema');
    front.rule = {
      change: ({ method }, text) =>
        method === 'tasks/get' ? text.replace('"content":[', '"content":0,"x":[') : text,
    };
    await expect(client.callTool({ name: 'sum' })).rejects.toMatchObject({ code: 'INVALID_RESULT' });
  });

  it('passes an elicitation of a task to @OnElicitation, with the interceptors around it', async () => {
    const { client, front } = await start();
    const called = client.callTool({ name: 'asks', arguments: { who: 'user' } });
    expect(textOf(await called)).toBe('Hello, the user');
    expect(asked).toEqual(['user by name']);
    expect(seen).toEqual([
      'tools/call request',
      'elicitation/create request',
      'elicitation/create response',
      'tools/call response',
    ]);
    const [update] = front.passed.filter(({ method }) => method === 'tasks/update');
    expect(update.headers['mcp-name']).toBe(update.params['taskId']);
    expect(front.count('tasks/update')).toBe(1);
  });

  it('answers several elicitations at once, each once', async () => {
    const { client } = await start();
    expect(textOf(await client.callTool({ name: 'asksTwice' }))).toBe('the one and the two');
    expect(asked.sort()).toEqual(['one by first', 'two by second']);
  });

  it('does not ask twice for a key that the server still shows', async () => {
    const { client, front } = await start();
    let shown: object | undefined;
    front.rule = {
      change: ({ method }, text) => {
        if (method !== 'tasks/get') return text;
        const message = JSON.parse(text) as { result: { status: string; inputRequests?: object } };
        shown ??= message.result.inputRequests;
        const { status } = message.result;
        if (status !== 'working' || !shown) return text;
        const result = { ...message.result, status: 'input_required', inputRequests: shown };
        return JSON.stringify({ ...message, result });
      },
    };
    expect(textOf(await client.callTool({ name: 'asks', arguments: { who: 'user' } }))).toBe(
      'Hello, the user',
    );
    expect(asked).toEqual(['user by name']);
  });

  it('fails and cancels the task if its elicitation cannot be answered', async () => {
    const { client, store } = await start();
    await expect(client.callTool({ name: 'asks', arguments: { who: 'broken' } })).rejects.toMatchObject({
      code: -32042,
    });
    await store.untilStatus('cancelled');
  });

  it('gives up a task with too many input requests, and asks nobody', async () => {
    const { client, front, store } = await start();
    const request = { method: 'elicitation/create', params: { message: 'user', requestedSchema: NAME } };
    const inputRequests = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [index, request]));
    front.rule = {
      change: ({ method }, text) => {
        if (method !== 'tasks/get') return text;
        const message = JSON.parse(text) as { result: object };
        const result = { ...message.result, status: 'input_required', inputRequests };
        return JSON.stringify({ ...message, result });
      },
    };
    await expect(client.callTool({ name: 'work' })).rejects.toThrow('more than 100 input requests');
    await store.untilStatus('cancelled');
    expect(asked).toEqual([]);
  });

  it('polls each second if the interval of the server is not a number', async () => {
    const { client, front } = await start();
    front.rule = { change: (_, text) => text.replace('"pollIntervalMs":50', '"pollIntervalMs":"abc"') };
    const called = client.callTool({ name: 'work' });
    gate.resolve('done');
    await called;
    const [call, poll] = ['tools/call', 'tasks/get'].map(name =>
      front.passed.find(({ method }) => method === name)!,
    );
    expect(poll.at - call.at).toBeGreaterThanOrEqual(990);
  });

  it('cancels the task if its caller gives up', async () => {
    const { client, front, store } = await start();
    const caller = new AbortController();
    const called = client.callTool({ name: 'work' }, { signal: caller.signal });
    const { signal } = await entered.promise;
    const aborted = new Promise(resolve => signal.addEventListener('abort', resolve));
    await store.untilStatus('working');
    const failed = expect(called).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT', message: 'No more' });
    await polled(front);
    caller.abort('No more');
    await failed;
    await aborted;
    await store.untilStatus('cancelled');
    const cancel = front.passed.find(({ method }) => method === 'tasks/cancel');
    expect(cancel!.headers['mcp-name']).toBe(cancel!.params['taskId']);
  });

  it('cancels the task at the timeout, and aborts the elicitation', async () => {
    const { client, store } = await start();
    const called = client.callTool({ name: 'asks', arguments: { who: 'never' } }, { timeout: 1000 });
    await expect(called).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
    expect((await asking.promise).aborted).toBe(true);
    await store.untilStatus('cancelled');
  });

  it('rejects if somebody else cancels the task, or the server does not know it', async () => {
    const { client, store, front } = await start();
    const called = expect(client.callTool({ name: 'work' })).rejects.toMatchObject({
      message: 'The task was cancelled',
    });
    const { id, owner, revision, ...task } = await store.untilStatus('working');
    await store.replace({ ...task, id, owner, revision: revision + 1, status: 'cancelled' });
    await called;
    front.rule = {
      change: ({ method }, text) => {
        if (method !== 'tools/call') return text;
        return text.replace(/"taskId":"[^"]+"/, '"taskId":"unknown"');
      },
    };
    await expect(client.callTool({ name: 'work' })).rejects.toMatchObject({ code: -32602 });
  });

  it('does not keep the application open', async () => {
    const { clients, client } = await start(undefined, { pollIntervalMs: 60_000 });
    const task = await client.startTool({ name: 'work' });
    const waited = expect(task.result()).rejects.toBeInstanceOf(ConnectionError);
    await clients.close();
    await waited;
  });
});

describe('a connection that breaks', () => {
  it('does not end the wait', async () => {
    const { client, front } = await start();
    const called = client.callTool({ name: 'work' });
    await entered.promise;
    const lost = deferred();
    front.rule = {
      answer: ({ method }, response) => {
        if (method !== 'tasks/get') return false;
        if (front.count('tasks/get') > 2) lost.resolve();
        response.destroy();
        return true;
      },
    };
    await lost.promise;
    front.rule = {};
    gate.resolve('done');
    expect(textOf(await called)).toBe('done');
  });

  it('may mean that the server starts again', async () => {
    const { client, front, server, store } = await start();
    const called = client.callTool({ name: 'work' });
    await entered.promise;
    gate.resolve('done');
    await server.close();
    const lost = deferred();
    front.rule = {
      answer: (_, response) => {
        lost.resolve();
        response.destroy();
        return true;
      },
    };
    await lost.promise;
    front.target = await (await startServer(store)).url();
    front.rule = {};
    expect(textOf(await called)).toBe('done');
  });

  it('is opened again', async () => {
    const transports: StreamableHTTPClientTransport[] = [];
    const { client, front } = await start(url => ({
      url: undefined,
      transport: () => {
        transports.push(new StreamableHTTPClientTransport(new URL(url)));
        return transports.at(-1)!;
      },
    }));
    const called = client.callTool({ name: 'asks', arguments: { who: 'user' } });
    const { signal } = await entered.promise;
    await asking.promise;
    await transports[0].close();
    expect(textOf(await called)).toBe('Hello, the user');
    expect(signal.aborted).toBe(false);
    expect(transports).toHaveLength(2);
    expect(front.count('tools/call')).toBe(1);
    expect(asked).toEqual(['user by name']);
  });

  it('ends the wait when the server no longer keeps the task', async () => {
    const { client, front } = await start(undefined, { ttlMs: 1 });
    front.rule = {
      answer: ({ method }, response) => {
        if (method === 'tasks/get') response.destroy();
        return method === 'tasks/get';
      },
    };
    await expect(client.callTool({ name: 'work' })).rejects.toThrow('fetch failed');
    expect(front.count('tasks/get')).toBe(1);
  });

  it('waits as long as a busy server asks for', async () => {
    const { client, front } = await start();
    let refused = 0;
    front.rule = {
      answer: ({ method }, response) => {
        if (method !== 'tasks/get' || refused > 0) return false;
        refused = performance.now();
        response.writeHead(429, { 'retry-after': '1', 'content-type': 'text/plain' }).end('Too many');
        return true;
      },
    };
    const called = client.callTool({ name: 'work' });
    await entered.promise;
    gate.resolve('done');
    expect(textOf(await called)).toBe('done');
    const [, second] = front.passed.filter(({ method }) => method === 'tasks/get');
    expect(second.at - refused).toBeGreaterThanOrEqual(990);
  });
});

describe('startTool', () => {
  it('returns a handle, which polls only for somebody who waits', async () => {
    const { client, front, store } = await start();
    const task = await client.startTool({ name: 'work' });
    expect(task.id).toBe(store.history[0].id);
    expect(await task.status()).toEqual({
      taskId: task.id,
      status: 'working',
      createdAt: expect.any(String),
      lastUpdatedAt: expect.any(String),
      ttlMs: 3_600_000,
      pollIntervalMs: 50,
    });
    expect(front.count('tasks/get')).toBe(1);
    gate.resolve('done');
    await store.untilStatus('completed');
    expect(front.count('tasks/get')).toBe(1);
    expect(seen).toEqual(['tools/call request']);
    const result = task.result();
    expect(task.result()).toBe(result);
    expect(textOf(await result)).toBe('done');
    expect(await task.status()).toMatchObject({ status: 'completed' });
    expect(await task.status()).not.toHaveProperty('result');
    expect(seen).toEqual(['tools/call request', 'tools/call response']);
  });

  it('reports each change of the task, and answers its elicitations', async () => {
    const { client } = await start();
    const task = await client.startTool({ name: 'asks', arguments: { who: 'user' } });
    const states: TaskState[] = [];
    const late: TaskState[] = [];
    await new Promise<void>((resolve, reject) =>
      task.updates.subscribe({ next: state => states.push(state), complete: resolve, error: reject }),
    );
    expect(states[0]).toMatchObject({ taskId: task.id, status: 'working' });
    expect(states.map(({ status }) => status)).toContain('input_required');
    expect(states.at(-1)).toMatchObject({ status: 'completed' });
    expect(states.every(state => !('result' in state) && !('inputRequests' in state))).toBe(true);
    expect(textOf(await task.result())).toBe('Hello, the user');
    await new Promise<void>(resolve =>
      task.updates.subscribe({ next: state => late.push(state), complete: resolve }),
    );
    expect(late).toEqual([states.at(-1)]);
    expect(asked).toEqual(['user by name']);
  });

  it('reports a task once that several polls show unchanged', async () => {
    const { client, front } = await start();
    const task = await client.startTool({ name: 'work' });
    const statuses: string[] = [];
    const ended = new Promise<void>((resolve, reject) =>
      task.updates.subscribe({
        next: ({ status }) => statuses.push(status),
        complete: resolve,
        error: reject,
      }),
    );
    for (let polls = 0; polls < 3; polls++) await polled(front);
    gate.resolve('done');
    await ended;
    expect(statuses).toEqual(['working', 'completed']);
  });

  it('cancels', async () => {
    const { client } = await start();
    const task = await client.startTool({ name: 'work' });
    const errors: unknown[] = [];
    task.updates.subscribe({ error: error => errors.push(error) });
    const { signal } = await entered.promise;
    await task.cancel();
    await expect(task.result()).rejects.toThrow('The task was cancelled');
    expect(errors).toEqual([await task.result().catch((error: unknown) => error)]);
    expect(signal.aborted).toBe(true);
  });

  it('cancels the task when its signal aborts, even if nobody waits', async () => {
    const { client, store } = await start();
    const caller = new AbortController();
    const task = await client.startTool({ name: 'work' }, { signal: caller.signal, timeout: 60_000 });
    caller.abort('No more');
    await store.untilStatus('cancelled', task.id);
    await expect(task.result()).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' });
  });

  it('lets the interceptors refuse the final result', async () => {
    const { client } = await start();
    const task = await client.startTool({ name: 'work' });
    gate.resolve('forbidden');
    await expect(task.result()).rejects.toThrow('Interceptor validation failed');
  });

  it('has a result without a task if the server answers at once', async () => {
    const { client } = await start();
    const task = await client.startTool({ name: 'plain' });
    expect(task.id).toBeUndefined();
    expect(await task.status()).toBeUndefined();
    expect(textOf(await task.result())).toBe('at once');
    await task.cancel();
    await new Promise<void>((resolve, reject) =>
      task.updates.subscribe({ complete: resolve, error: reject }),
    );
  });

  it('rejects if the call is refused', async () => {
    const { client } = await start();
    await expect(client.startTool({ name: 'unknown' })).rejects.toMatchObject({ code: -32602 });
  });
});

describe('without tasks', () => {
  it.each([
    ['a 2025 client', { era: 'legacy' }],
    ['the option "tasks"', { tasks: false }],
  ] as const)('%s gets an ordinary result', async (_, options) => {
    const { client, front, store } = await start(() => options);
    const started = client.startTool({ name: 'work' });
    await entered.promise;
    gate.resolve('done');
    const task = await started;
    expect(task.id).toBeUndefined();
    expect(textOf(await task.result())).toBe('done');
    expect(JSON.stringify(front.passed)).not.toContain(EXTENSION);
    expect(store.history).toEqual([]);
  });

  it('does not accept a task that it has not declared', async () => {
    const { client, front } = await start(() => ({ tasks: false }));
    front.rule = {
      change: ({ method }, text) =>
        method === 'tools/call'
          ? text.replace('"resultType":"complete"', '"resultType":"task","taskId":"x"')
          : text,
    };
    await expect(client.callTool({ name: 'plain' })).rejects.toMatchObject({
      code: 'UNSUPPORTED_RESULT_TYPE',
    });
  });
});

it('does not accept a task as the answer to another request', async () => {
  const { client, front } = await start();
  front.rule = {
    change: ({ method }, text) =>
      method === 'tools/list'
        ? text.replace('"resultType":"complete"', '"resultType":"task","taskId":"x"')
        : text,
  };
  await expect(client.listTools()).rejects.toMatchObject({ code: 'UNSUPPORTED_RESULT_TYPE' });
});

describe('createTestClient', () => {
  it('waits for tasks, and starts them', async () => {
    const { server } = await start();
    const client = await server.client({
      onElicit: ({ message }) => ({ action: 'accept', content: { name: message } }),
    });
    const called = await client.callTool({ name: 'asks', arguments: { who: 'Ada' } });
    expect(textOf(called)).toBe('Hello, Ada');
    const task = await client.startTool({ name: 'work' });
    expect(await task.status()).toMatchObject({ status: 'working' });
    gate.resolve('done');
    expect(textOf(await task.result())).toBe('done');
  });

  it.each([{ era: 'legacy' }, { tasks: false }] as const)('gets ordinary results with %j', async options => {
    const { server, store } = await start();
    const client = await server.client(options);
    gate.resolve('done');
    expect(textOf(await client.callTool({ name: 'work' }))).toBe('done');
    expect(store.history).toEqual([]);
  });
});

/** Resolves when the client has polled a task. */
async function polled(front: TaskFront): Promise<void> {
  const get = deferred();
  front.rule = {
    answer: ({ method }) => {
      if (method === 'tasks/get') get.resolve();
      return false;
    },
  };
  await get.promise;
}
