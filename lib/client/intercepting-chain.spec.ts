import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { Server } from '@modelcontextprotocol/server';
import { InterceptorChain } from 'nestjs-mcp/interceptors';
import type { InterceptorInvoker } from 'nestjs-mcp/interceptors';
import { InterceptingMcpClient } from 'nestjs-mcp/client';

const hooks = [{ events: ['tools/call'], phase: 'request' }];
const guard: InterceptorInvoker = {
  list: async () => ({ interceptors: [{ name: 'guard', type: 'validation', hooks }] }),
  invoke: async ({ payload }) => ({ valid: !JSON.stringify(payload).includes('secret') }),
};

it('a client takes the chain that InterceptorChain.discover returns', async () => {
  const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/call', ({ params: { name } }) => ({
    content: [{ type: 'text', text: name }],
  }));
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1' });
  await Promise.all([server.connect(far), client.connect(near)]);

  const hosts = [{ name: 'privacy', invoker: guard }];
  const governed = new InterceptingMcpClient(client, { chain: await InterceptorChain.discover(hosts) });
  await expect(governed.callTool({ name: 'open' })).resolves.toMatchObject({ content: [{ text: 'open' }] });
  await expect(governed.callTool({ name: 'secret' })).rejects.toMatchObject({ code: -32602 });
  await client.close();
});
