import type { McpServerHost } from '../server/mcp-server-host.js';
import { refusalOfListen } from './listen.js';

it('nobody is asked about the rest of what a client wanted to listen to before it hung up', async () => {
  const controller = new AbortController();
  const asked: string[] = [];
  const host = {
    admitSubscription: async (uri: string) => {
      asked.push(uri);
      if (asked.length === 2) controller.abort();
    },
  } as unknown as McpServerHost;
  const refusal = await refusalOfListen(
    host,
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: { notifications: { resourceSubscriptions: ['a://1', 'a://2', 'a://3', 'a://4'] } },
    },
    { signal: controller.signal },
  );
  expect(refusal).toMatchObject({ message: 'The request was cancelled' });
  expect(asked).toEqual(['a://1', 'a://2']);
});
