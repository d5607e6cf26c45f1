import { BadRequestException, Injectable, Module, type PipeTransform } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import { Args, Ask, Completion, McpModule, Prompt, Tool } from 'nestjs-mcp';
import { connect, ERAS, listen, outcomeOf, type Running } from '../gateway/support.js';

const FORM = { schema: { type: 'object', properties: {} } } as const;

/** Refuses, but not at once. */
@Injectable()
class Refusing implements PipeTransform {
  async transform(value: unknown) {
    await new Promise(setImmediate);
    if (value === 'bad') throw new BadRequestException('bad is refused');
    return value;
  }
}

@Injectable()
class Tools {
  @Tool()
  both(
    @Ask('one', { message: 'One?', ...FORM }) _one: unknown,
    @Ask('two', { message: 'Two?', ...FORM }) _two: unknown,
    @Args('kind', Refusing) kind: string,
  ) {
    return kind;
  }
}

describe.each(ERAS)('parameters that a client is asked for (%s)', era => {
  let running: Running;
  let client: Client;
  const asked: string[] = [];

  beforeAll(async () => {
    @Module({
      imports: [McpModule.forRoot({ name: 'asks', version: '1' })],
      providers: [Tools],
    })
    class AppModule {}
    running = await listen(AppModule);
    client = await connect(running.url, era, {
      capabilities: { elicitation: { form: {} } },
      prepare: one =>
        one.setRequestHandler('elicitation/create', ({ params }) => {
          asked.push(params.message);
          return { action: 'accept', content: {} };
        }),
    });
  });
  beforeEach(() => asked.splice(0));
  afterAll(async () => {
    await client.close();
    await running.app.close();
  });
  const call = (kind: string) => outcomeOf(client.callTool({ name: 'both', arguments: { kind } }));

  it('are not asked for where a pipe refuses another one', async () => {
    expect(JSON.stringify(await call('bad'))).toContain('bad is refused');
    expect(asked).toEqual([]);
  });

  it('are asked for together', async () => {
    expect(await call('good')).toMatchObject({ content: [{ text: 'good' }] });
    expect(asked).toEqual(['One?', 'Two?']);
  });
});

describe('a parameter that could never be asked for', () => {
  @Injectable()
  class BadKey {
    @Tool()
    go(@Ask('my region', { message: 'Which?', ...FORM }) _region: unknown) {
      return 'went';
    }
  }
  @Injectable()
  class OnCompletion {
    @Completion({ prompt: 'talk', argument: 'topic' })
    topics(@Ask('region', { message: 'Which?', ...FORM }) _region: unknown) {
      return [];
    }
    @Prompt({ argsSchema: { type: 'object', properties: { topic: { type: 'string' } } } })
    talk() {
      return 'talk';
    }
  }

  it.each([
    ['has a key that is none', BadKey, 'BadKey.go', '"my region"'],
    ['is of a completion', OnCompletion, 'OnCompletion.topics', 'completion'],
  ])('stops the application where it %s', async (_what, provider, where, why) => {
    @Module({ imports: [McpModule.forRoot({ name: 'asks', version: '1' })], providers: [provider] })
    class AppModule {}
    const start = listen(AppModule);
    await expect(start).rejects.toThrow(where);
    await expect(start).rejects.toThrow(why);
  });
});
