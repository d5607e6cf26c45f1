import { InMemoryServerEventBus, type ServerCapabilities } from '@modelcontextprotocol/server';
import { Inbox } from '../../test/fixtures/inbox.js';
import { McpException } from '../exceptions/mcp.exception.js';
import { listenStage } from '../interceptors/boundary/listen-stage.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import type { ServerExtension } from '../protocol/server-extension.js';
import type { Handlers } from '../protocol/handlers.js';
import { composePipeline, type PipelineParts } from './pipeline.js';

type Ask = (uri: string, call: McpCall) => Promise<unknown>;

const ID = 'io.modelcontextprotocol/subscriptionId';
const URIS = ['a://1', 'a://2', 'a://3', 'a://4'];

const nothing: Ask = () => Promise.resolve();

interface Parts {
  intercept?: (uri: string, call: McpCall) => Promise<void>;
  admit?: Ask;
  notifications?: object;
  capabilities?: ServerCapabilities;
  extension?: ServerExtension;
}

/** A request to listen. `ended` is its answer, once its stream has ended or could not begin. */
function open(
  { intercept = async () => {}, admit = nothing, extension = {}, ...parts }: Parts,
  signal = new AbortController().signal,
) {
  const {
    notifications = { resourceSubscriptions: URIS },
    capabilities = { resources: { subscribe: true }, tools: { listChanged: true }, prompts: {} },
  } = parts;
  const bus = new InMemoryServerEventBus();
  const sent = new Inbox<{ method: string; params: Params }>();
  const accepted = jest.fn();
  const handlers = {
    subscriptionsAtOnce: 1,
    admitSubscription: (uri: string, call: McpCall) => admit(uri, call).then(kept => kept !== false),
    answer: () => nothing,
    methods: {},
    description: { capabilities },
  } as unknown as Handlers;
  const extensions = [{ stages: () => ({ intercept: listenStage(1000, intercept) }) }, extension];
  const pipeline = composePipeline(
    { handlers, extensions, bus, rounds: {} } as unknown as PipelineParts,
    'modern',
  );
  const notify = async (method: string, params: Params) => sent.put({ method, params });
  const call = {
    requestId: 1,
    method: 'subscriptions/listen',
    params: { notifications },
    era: 'modern',
    reply: {
      signal,
      notify,
      stayOpen: () => {
        accepted();
        return notify;
      },
    },
  } as unknown as McpCall;
  const ended = pipeline.get(call.method)!(call, result => result);
  ended.catch(() => undefined);
  return { ended, sent, bus, accepted };
}

it.each(['intercept', 'admit'])(
  'nobody is asked about the rest of what a client wanted to listen to before it hung up: %s',
  async step => {
    const controller = new AbortController();
    const asked: string[] = [];
    const ask: Ask = async uri => {
      asked.push(uri);
      if (asked.length === 2) controller.abort();
    };
    const { ended } = open({ [step]: ask }, controller.signal);
    await expect(ended).rejects.toMatchObject({ message: 'The request was cancelled' });
    expect(asked).toEqual(['a://1', 'a://2']);
  },
);

describe('interceptors of all resources of one request', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const after = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms));

  it('have the time of one message together', async () => {
    const asked: string[] = [];
    let last: AbortSignal | undefined;
    const { ended } = open({
      intercept: (uri, { reply: { signal } }) => {
        asked.push(uri);
        last = signal;
        return after(400);
      },
    });
    await jest.advanceTimersByTimeAsync(999);
    expect(last?.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    await expect(ended).rejects.toMatchObject({
      code: -32000,
      message: 'Interceptor execution timeout',
      data: { timeoutMs: 1000, phase: 'request' },
    });
    expect(last?.aborted).toBe(true);
    expect(asked).toEqual(['a://1', 'a://2', 'a://3']);
  });

  it('are all asked before anybody else is, whose time is not theirs', async () => {
    const asked: string[] = [];
    const { accepted } = open({
      intercept: async uri => void asked.push(uri),
      admit: uri => {
        asked.push(uri);
        return after(400);
      },
    });
    await jest.advanceTimersByTimeAsync(1600);
    expect(accepted).toHaveBeenCalledTimes(1);
    expect(asked).toEqual([...URIS, ...URIS]);
  });
});

describe('an accepted request', () => {
  it('gets what it asked for and the server declares, with its id', async () => {
    const controller = new AbortController();
    const notifications = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: false,
      resourceSubscriptions: ['a://1', 'a://1', 'a://2'],
    };
    const admit: Ask = async uri => uri === 'a://1';
    const { ended, sent, bus } = open({ notifications, admit }, controller.signal);
    expect(await sent.take()).toEqual({
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: { toolsListChanged: true, resourceSubscriptions: ['a://1', 'a://1'] },
        _meta: { [ID]: 1 },
      },
    });
    bus.publish({ kind: 'prompts_list_changed' });
    bus.publish({ kind: 'resources_list_changed' });
    bus.publish({ kind: 'resource_updated', uri: 'a://2' });
    bus.publish({ kind: 'tools_list_changed', params: { reason: 'new', _meta: { trace: 't', [ID]: 7 } } });
    bus.publish({ kind: 'resource_updated', uri: 'a://1' });
    expect([await sent.take(), await sent.take()]).toEqual([
      {
        method: 'notifications/tools/list_changed',
        params: { reason: 'new', _meta: { trace: 't', [ID]: 1 } },
      },
      { method: 'notifications/resources/updated', params: { uri: 'a://1', _meta: { [ID]: 1 } } },
    ]);
    controller.abort();
    bus.publish({ kind: 'tools_list_changed' });
    expect(await ended).toEqual({ _meta: { [ID]: 1 } });
    expect([sent.size, bus.listenerCount]).toEqual([0, 0]);
  });

  it('ends at once if nothing is left of it', async () => {
    const { ended, sent, bus } = open({ admit: () => Promise.resolve(false) });
    expect(await ended).toEqual({ _meta: { [ID]: 1 } });
    expect((await sent.take()).params['notifications']).toEqual({});
    expect(bus.listenerCount).toBe(0);
  });

  it('lets guards send nothing before the acknowledgement', async () => {
    const { sent } = open({
      admit: (_, { reply }) => reply.notify('notifications/message', { level: 'info', data: 'checked' }),
    });
    expect((await sent.take()).method).toBe('notifications/subscriptions/acknowledged');
  });

  it.each([
    ['refused', () => Promise.reject(new McpException(-32602, 'no'))],
    ['left without resources', () => Promise.resolve(false)],
  ])('ends what handlers do for it, also if it is %s', async (_, admit) => {
    let signal: AbortSignal | undefined;
    const { ended } = open({
      admit: (__, { reply }) => {
        signal = reply.signal;
        return admit();
      },
    });
    await ended.catch(() => undefined);
    expect(signal?.aborted).toBe(true);
  });
});
