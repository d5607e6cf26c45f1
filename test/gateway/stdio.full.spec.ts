import { join } from 'node:path';
import { Inbox } from '../fixtures/inbox.js';
import { textOf } from '../fixtures/matrix.js';
import { backendModule } from './backend-app.js';
import { connectStdio, ERAS, EVERYTHING, listen, outcomeOf } from './support.js';

// Several processes start for each test, and compile what they load.
jest.setTimeout(120_000);

const hook = join(__dirname, '../fixtures/ts-hook.cjs');
const program = (file: string, env: Record<string, string>) => ({
  command: process.execPath,
  args: ['-r', hook, join(__dirname, file)],
  stderr: 'ignore' as const,
  env: { PATH: process.env['PATH'] ?? '', ...env },
});
const gatewayTo = (backend: object, env = {}) =>
  program('gateway-app.ts', { BACKEND: JSON.stringify(backend), ...env });
const BACKEND = program('backend-app.ts', { RUN_BACKEND: '1' });

describe.each(ERAS)('a gateway on stdio, for a %s client', era => {
  it('stands in front of a 2025 backend on stdio', async () => {
    const client = await connectStdio(gatewayTo(EVERYTHING), era, {
      capabilities: { elicitation: { form: {} } },
      prepare: one => one.setRequestHandler('elicitation/create', () => ({ action: 'decline' })),
    });
    expect(textOf(await client.callTool({ name: 'echo', arguments: { message: 'hi' } }))).toBe('Echo: hi');
    expect(JSON.stringify(await client.callTool({ name: 'trigger-elicitation-request' }))).toContain(
      'declined',
    );
    await client.close();
  });

  it('stands in front of a 2026 backend on stdio', async () => {
    const client = await connectStdio(gatewayTo(BACKEND), era, {
      capabilities: { elicitation: { form: {} } },
      prepare: one =>
        one.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { size: 'S' } })),
    });
    const changed = new Inbox<string>();
    const updated = new Inbox<string>();
    client.setNotificationHandler('notifications/tools/list_changed', () => changed.put('changed'));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => updated.put(params.uri));
    expect(textOf(await client.callTool({ name: 'order' }))).toBe('ordered S');
    if (era === 'modern')
      await client.listen({ toolsListChanged: true, resourceSubscriptions: ['state://a'] });
    else await client.subscribeResource({ uri: 'state://a' });
    await client.callTool({ name: 'grow', arguments: { name: 'grown' } });
    await changed.take();
    await client.callTool({ name: 'touch' });
    expect(await updated.take()).toBe('state://a');
    await client.close();
  });

  it('stands in front of a backend over HTTP', async () => {
    const backend = await listen(backendModule());
    const client = await connectStdio(gatewayTo({ url: backend.url }), era);
    expect(textOf(await client.callTool({ name: 'regional', arguments: { region: 'Zürich' } }))).toBe(
      'in Zürich',
    );
    await client.close();
    await backend.app.close();
  });
});

describe('a gateway on stdio', () => {
  it('says so where its backend is down', async () => {
    const outcome = await outcomeOf(connectStdio(gatewayTo({ url: 'http://127.0.0.1:1/mcp' }), 'legacy'));
    expect(outcome).toMatchObject({
      code: -32603,
      message: 'The server behind this gateway cannot be reached; try again later',
    });
  });

  it('does not start itself over and over', async () => {
    const self = gatewayTo({}, { NESTJS_MCP_HOPS: '8' });
    const outcome = await outcomeOf(
      connectStdio({ ...self, env: { ...self.env, BACKEND: JSON.stringify(EVERYTHING) } }, 'legacy'),
    );
    expect(outcome).not.toHaveProperty('capabilities');
    expect(outcome).toHaveProperty('message');
  });
});
