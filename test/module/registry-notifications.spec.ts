import { Injectable } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import { McpModule, McpServerRegistry, Prompt, Resource, Tool } from 'nestjs-mcp';
import { Inbox } from '../fixtures/inbox.js';
import { cells, startApp, type TestApp } from '../fixtures/matrix.js';

@Injectable()
class Handlers {
  @Tool()
  tool() {
    return 'tool';
  }

  @Tool({ server: 'other' })
  elsewhere() {
    return 'elsewhere';
  }

  @Prompt({ argsSchema: { type: 'object', properties: { code: { type: 'string' } } } })
  review() {
    return 'Review';
  }

  @Resource({ uri: 'config://app' })
  config() {
    return 'config';
  }
}

type Change = (registry: McpServerRegistry) => unknown;

const handler = () => 'late';

/** Changes, and what clients are told of each. */
const CHANGES: [string, Change, string][] = [
  ['a tool is added', r => r.add('tool', { name: 'a' }, handler), 'tools'],
  ['a tool is replaced', r => r.replace('tool', { name: 'a' }, handler), 'tools'],
  ['a tool is disabled', r => r.disable('tool', 'a'), 'tools'],
  ['a tool is enabled', r => r.enable('tool', 'a'), 'tools'],
  ['a tool is removed', r => r.remove('tool', 'a'), 'tools'],
  ['a prompt is added', r => r.add('prompt', { name: 'b' }, handler), 'prompts'],
  ['a prompt is removed', r => r.remove('prompt', 'b'), 'prompts'],
  ['a resource is added', r => r.add('resource', { uri: 'c://c' }, handler), 'resources'],
  ['a resource is removed', r => r.remove('resource', 'c://c'), 'resources'],
  ['a template is added', r => r.add('resource template', { uriTemplate: 'd://{e}' }, handler), 'resources'],
  ['a template is removed', r => r.remove('resource template', 'd://{e}'), 'resources'],
];

const LISTENING = cells(({ legacy }) => legacy === 'sessions');

describe.each(LISTENING)('a client that listens, over $name,', ({ platform, era }) => {
  const told = new Inbox<string>();
  let test: TestApp;
  let client: Client;
  let registry: McpServerRegistry;

  beforeAll(async () => {
    test = await startApp([Handlers], {
      platform,
      forceCloseConnections: true,
      module: {
        imports: [McpModule.forRoot({ name: 'other', version: '1', http: { path: '/other' } })],
      },
    });
    registry = test.app.get(McpServerRegistry);
    client = await test.client({ era });
    for (const kind of ['tools', 'prompts', 'resources'] as const) {
      client.setNotificationHandler(`notifications/${kind}/list_changed`, () => told.put(kind));
    }
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => told.put(params.uri));
    if (era === 'modern') {
      await client.listen({
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
        resourceSubscriptions: ['config://app'],
      });
    } else {
      await client.subscribeResource({ uri: 'config://app' });
    }
  });
  afterAll(() => test.close());

  it.each(CHANGES)('is told once that %s', async (_what, change, kind) => {
    await change(registry);
    expect(await told.take()).toBe(kind);
    expect(told.size).toBe(0);
  });

  it('is not told of what did not happen, of a completion, or of another server', async () => {
    expect(() => registry.remove('tool', 'nope')).toThrow();
    await expect(registry.add('tool', { name: 'tool' }, handler)).rejects.toThrow();
    await registry.add('completion', { prompt: 'review', argument: 'code' }, () => ['a']);
    await registry.add('tool', { name: 'more', server: 'other' }, handler);
    registry.resourceUpdated('config://app', 'other');
    registry.resourceUpdated('config://unsubscribed');
    registry.disable('prompt', 'review');
    expect(await told.take()).toBe('prompts');
    expect(told.size).toBe(0);
  });

  it('is told that a resource changed which it subscribed to', async () => {
    registry.resourceUpdated('config://app');
    expect(await told.take()).toBe('config://app');
  });
});
