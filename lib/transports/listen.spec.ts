import { listenStage } from '../interceptors/boundary/listen-stage.js';
import type { McpCall } from '../protocol/mcp-call.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import { composeListening } from '../server/pipeline.js';
import type { Handlers } from '../protocol/handlers.js';
import { refusalOfListen } from './listen.js';

type Ask = (uri: string, call: McpCall) => Promise<void>;

const nothing: Ask = () => Promise.resolve();

const listen = (
  { intercept = nothing, admit = nothing }: { intercept?: Ask; admit?: Ask },
  signal = new AbortController().signal,
) =>
  refusalOfListen(
    {
      listening: composeListening({
        extensions: [{ stages: () => ({ intercept: listenStage(1000, intercept) }) }],
        handlers: {
          subscriptionsAtOnce: 1,
          admitSubscription: (uri: string, call: McpCall) => admit(uri, call).then(() => true),
        } as Handlers,
      }),
    } as McpServerInstance,
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: { notifications: { resourceSubscriptions: ['a://1', 'a://2', 'a://3', 'a://4'] } },
    },
    { signal },
  );

it.each(['intercept', 'admit'])(
  'nobody is asked about the rest of what a client wanted to listen to before it hung up: %s',
  async step => {
    const controller = new AbortController();
    const asked: string[] = [];
    const ask: Ask = async uri => {
      asked.push(uri);
      if (asked.length === 2) controller.abort();
    };
    const refusal = await listen({ [step]: ask }, controller.signal);
    expect(refusal).toMatchObject({ message: 'The request was cancelled' });
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
    const refusal = listen({
      intercept: (uri, { reply: { signal } }) => {
        asked.push(uri);
        last = signal;
        return after(400);
      },
    });
    await jest.advanceTimersByTimeAsync(999);
    expect(last?.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(await refusal).toEqual({
      code: -32000,
      message: 'Interceptor execution timeout',
      data: { timeoutMs: 1000, phase: 'request' },
    });
    expect(last?.aborted).toBe(true);
    expect(asked).toEqual(['a://1', 'a://2', 'a://3']);
  });

  it('are all asked before anybody else is, whose time is not theirs', async () => {
    const asked: string[] = [];
    const refusal = listen({
      intercept: async uri => void asked.push(uri),
      admit: uri => {
        asked.push(uri);
        return after(400);
      },
    });
    await jest.advanceTimersByTimeAsync(1600);
    expect(await refusal).toBeUndefined();
    expect(asked).toEqual([...['a://1', 'a://2', 'a://3', 'a://4'], ...['a://1', 'a://2', 'a://3', 'a://4']]);
  });
});
