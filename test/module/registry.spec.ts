import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import { McpServerRegistry, Prompt, Resource, ResourceTemplate, Tool, type McpContext } from 'nestjs-mcp';
import type { HandlerKind } from '../../lib/decorators/handler-options.js';
import { z } from 'zod';
import { deferred } from '../fixtures/deferred.js';
import { anyCell, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

const running = { started: deferred(), finish: deferred() };

@Injectable()
class Handlers {
  @Tool({ outputSchema: z.object({ answer: z.number() }) })
  async slow() {
    running.started.resolve();
    await running.finish.promise;
    return { answer: 42 };
  }

  @Prompt({ argsSchema: z.object({ code: z.string() }) })
  review() {
    return 'Review';
  }

  @Resource({ uri: 'config://app' })
  config() {
    return 'config';
  }

  @ResourceTemplate({ uriTemplate: 'users://{id}' })
  user() {
    return 'user';
  }
}

/** How a kind of handler is declared, listed and called. */
interface Subject {
  key: string;
  options: object;
  handler: (text: string) => (...args: never[]) => unknown;
  list(client: Client): Promise<string[]>;
  call(client: Client): Promise<unknown>;
  unknown: object;
}

const textIn = ({ contents: [content] }: { contents: object[] }) => (content as { text: string }).text;

const SUBJECTS: Record<Exclude<HandlerKind, 'completion'>, Subject> = {
  tool: {
    key: 'late',
    options: { name: 'late', description: 'Added late', inputSchema: z.object({ n: z.number() }) },
    handler:
      text =>
      ({ n }: { n: number }, ctx: McpContext) =>
        `${text} ${n} ${ctx.method}`,
    list: async client => (await client.listTools()).tools.map(({ name }) => name),
    call: async client => textOf(await client.callTool({ name: 'late', arguments: { n: 1 } })),
    unknown: { code: -32602, message: 'Unknown tool: late' },
  },
  prompt: {
    key: 'late',
    options: { name: 'late', argsSchema: z.object({ n: z.string() }) },
    handler:
      text =>
      ({ n }: { n: string }, ctx: McpContext) =>
        `${text} ${n} ${ctx.method}`,
    list: async client => (await client.listPrompts()).prompts.map(({ name }) => name),
    call: async client => {
      const { messages } = await client.getPrompt({ name: 'late', arguments: { n: '1' } });
      return (messages[0].content as { text: string }).text;
    },
    unknown: { code: -32602, message: 'Unknown prompt: late' },
  },
  resource: {
    key: 'late://it',
    options: { uri: 'late://it', name: 'late' },
    handler: text => (_data: undefined, ctx: McpContext) => `${text} 1 ${ctx.method}`,
    list: async client => (await client.listResources()).resources.map(({ uri }) => uri),
    call: async client => textIn(await client.readResource({ uri: 'late://it' })),
    unknown: { message: expect.stringMatching(/not found/i) },
  },
  'resource template': {
    key: 'late://{n}',
    options: { uriTemplate: 'late://{n}', uriParamsSchema: z.object({ n: z.string() }) },
    handler:
      text =>
      ({ n }: { n: string }, ctx: McpContext) =>
        `${text} ${n} ${ctx.method}`,
    list: async client =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    call: async client => textIn(await client.readResource({ uri: 'late://1' })),
    unknown: { message: expect.stringMatching(/not found/i) },
  },
};

const METHODS: Record<string, string> = { tool: 'tools/call', prompt: 'prompts/get' };

describe.each(anyCell())('McpServerRegistry, over $name,', ({ platform, era, legacy }) => {
  let test: TestApp;
  let client: Client;
  let registry: McpServerRegistry;

  beforeAll(async () => {
    test = await startApp([Handlers], { platform, mcp: { legacy } });
    client = await test.client({ era });
    registry = test.app.get(McpServerRegistry);
  });
  afterAll(() => test.close());

  it.each(Object.entries(SUBJECTS))(
    'adds, replaces, hides, shows and removes a %s',
    async (name, subject) => {
      const kind = name as 'tool';
      const { key, options, handler } = subject;
      const answer = (text: string) => `${text} 1 ${METHODS[kind] ?? 'resources/read'}`;
      const expectKnown = async (text: string) => {
        expect(await subject.list(client)).toContain(key);
        expect(await subject.call(client)).toBe(answer(text));
      };
      const expectUnknown = async () => {
        expect(await subject.list(client)).not.toContain(key);
        await expect(subject.call(client)).rejects.toMatchObject(subject.unknown);
      };

      await expectUnknown();
      await registry.add(kind, options as { name: string }, handler('first'));
      await expectKnown('first');
      await registry.replace(kind, options as { name: string }, handler('second'));
      await expectKnown('second');
      registry.disable(kind, key);
      await expectUnknown();
      registry.enable(kind, key);
      await expectKnown('second');
      registry.remove(kind, key);
      await expectUnknown();
    },
  );

  it.each<[string, () => unknown]>([
    [
      'replaced',
      () =>
        registry.replace('tool', { name: 'slow', outputSchema: z.object({ answer: z.string() }) }, () => ({
          answer: 'new',
        })),
    ],
    ['disabled', () => registry.disable('tool', 'slow')],
    ['removed', () => registry.remove('tool', 'slow')],
  ])('lets a call finish whose tool is %s meanwhile', async (_change, change) => {
    Object.assign(running, { started: deferred(), finish: deferred() });
    const call = client.callTool({ name: 'slow' });
    await running.started.promise;
    await change();
    running.finish.resolve();
    expect((await call).structuredContent).toEqual({ answer: 42 });
    await restore(registry);
  });
});

describe('McpServerRegistry, while the application starts,', () => {
  it('adds to what the decorators declare', async () => {
    @Injectable()
    class Early implements OnModuleInit {
      constructor(private readonly registry: McpServerRegistry) {}

      async onModuleInit() {
        await this.registry.add('tool', { name: 'early' }, () => 'early');
        await this.registry.add('completion', { prompt: 'review', argument: 'code' }, () => ['early']);
      }
    }
    const test = await startApp([Early, Handlers]);
    const client = await test.client();
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['slow', 'early']);
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'review' },
      argument: { name: 'code', value: '' },
    });
    expect(completion.values).toEqual(['early']);
    await test.close();
  });
});

/** Puts `slow` back as it was declared. */
async function restore(registry: McpServerRegistry): Promise<void> {
  const slow = () => new Handlers().slow();
  try {
    registry.remove('tool', 'slow');
  } catch {
    // It is gone already.
  }
  await registry.add('tool', { name: 'slow', outputSchema: z.object({ answer: z.number() }) }, slow);
}
