import { Injectable } from '@nestjs/common';
import { McpBootstrapError, McpModule, McpServerRegistry, Prompt, Tool } from 'nestjs-mcp';
import { startApp, textOf, type TestApp } from '../fixtures/matrix.js';

@Injectable()
class Handlers {
  @Tool()
  slow() {
    return 'slow';
  }

  @Prompt()
  review() {
    return 'Review';
  }
}

const handler = () => undefined;

describe('McpServerRegistry', () => {
  let test: TestApp;
  let registry: McpServerRegistry;

  beforeAll(async () => {
    test = await startApp([Handlers], {
      module: { imports: [McpModule.forRoot({ name: 'admin', version: '2', http: { path: '/admin' } })] },
    });
    registry = test.app.get(McpServerRegistry);
  });
  afterAll(() => test.close());

  it('changes the server that it is told to', async () => {
    await registry.add('tool', { name: 'purge', server: 'admin' }, () => 'purged');
    const admin = await test.client({ server: 'admin' });
    const open = await test.client();
    expect(textOf(await admin.callTool({ name: 'purge' }))).toBe('purged');
    await expect(open.callTool({ name: 'purge' })).rejects.toThrow('Unknown tool: purge');
    registry.remove('tool', 'purge', 'admin');
    await expect(admin.callTool({ name: 'purge' })).rejects.toThrow('Unknown tool: purge');
  });

  const WRONG: [string, () => unknown, RegExp][] = [
    [
      'a name that is taken',
      () => registry.add('tool', { name: 'slow' }, handler),
      /^RuntimeHandler\.slow: the tool "slow" already exists in Handlers\.slow; use replace\(\) to change it$/,
    ],
    [
      'a name that is none',
      () => registry.add('tool', { name: 'a b' }, handler),
      /^RuntimeHandler\.a b: "a b" is not a tool name/,
    ],
    [
      'a URI that is none',
      () => registry.add('resource', { uri: 'x' }, handler),
      /"x" is not a resource URI/,
    ],
    [
      'a template that is none',
      () => registry.add('resource template', { uriTemplate: 'x' }, handler),
      /literal scheme/,
    ],
    [
      'a schema that is none',
      () => registry.add('tool', { name: 'x', inputSchema: 5 as never }, handler),
      /a schema is a class/,
    ],
    [
      'an unknown server',
      () => registry.add('tool', { name: 'x', server: 'nope' }, handler),
      /^McpServerRegistry: the MCP server "nope" does not exist; servers are "test", "admin"$/,
    ],
    [
      'nothing to replace',
      () => registry.replace('prompt', { name: 'x' }, handler),
      /^McpServerRegistry: the server "test" does not have the prompt "x"; add it first$/,
    ],
    ['nothing to enable', () => registry.enable('tool', 'x'), /does not have the tool "x"/],
    [
      'nothing to disable',
      () => registry.disable('resource', 'a://x'),
      /does not have the resource "a:\/\/x"/,
    ],
    [
      'nothing to remove',
      () => registry.remove('resource template', 'a://{x}', 'admin'),
      /the server "admin" does not have the resource template "a:\/\/\{x\}"/,
    ],
    [
      'no completion to remove',
      () => registry.remove('completion', { prompt: 'review', argument: 'code' }),
      /does not have the completion .*review.*code/,
    ],
  ];

  it.each(WRONG)('refuses %s, and stays as it was', async (_what, change, sentence) => {
    const client = await test.client();
    const before = await client.listTools();
    const error = await Promise.resolve()
      .then(change)
      .catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(McpBootstrapError);
    expect((error as Error).message).toMatch(sentence);
    expect(await client.listTools()).toEqual(before);
  });
});
