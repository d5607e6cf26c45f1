import { Injectable, Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Client } from '@modelcontextprotocol/client';
import { Ask, Ctx, inputRequest, InputRequiredException, McpContext, McpModule, Tool } from 'nestjs-mcp';
import { LogSpy } from '../fixtures/log-spy.js';
import { connect, listen, outcomeOf } from '../gateway/support.js';

const TREE = {
  type: 'object',
  properties: { tree: { type: 'object', properties: { leaf: { type: 'string' } } } },
} as const;
const FLAT = { type: 'object', properties: {} } as const;

@Injectable()
class Tools {
  @Tool()
  async noSchema(@Ctx() ctx: McpContext) {
    await ctx.elicit('region', { message: 'Where?' } as never);
  }

  @Tool()
  async noMessage(@Ctx() ctx: McpContext) {
    await ctx.elicit('region', { schema: FLAT } as never);
  }

  @Tool()
  async nested(@Ctx() ctx: McpContext) {
    await ctx.elicit('region', { message: 'Where?', schema: TREE });
  }

  @Tool()
  async list(@Ctx() ctx: McpContext) {
    await ctx.elicit('region', { message: 'Where?', schema: { type: 'array' } });
  }

  @Tool()
  async noPage(@Ctx() ctx: McpContext) {
    await ctx.elicitUrl('region', { message: 'Where?', url: '/login' });
  }

  @Tool()
  async noMessages(@Ctx() ctx: McpContext) {
    await ctx.sample('region', { maxTokens: 5 } as never);
  }

  @Tool()
  thrown() {
    throw new InputRequiredException({
      inputRequests: { region: inputRequest.elicit({ message: 'Where?', schema: TREE }) },
    });
  }

  @Tool()
  thrownByHand() {
    throw new InputRequiredException({ inputRequests: { region: { method: 'tools/list' } as never } });
  }

  @Tool()
  emptyMessage(@Ask('region', { message: () => '', schema: FLAT }) _region: unknown) {
    return 'went';
  }
}

describe('a question that cannot be sent', () => {
  const logs = new LogSpy();
  let app: INestApplication;
  let client: Client;

  beforeAll(async () => {
    @Module({ imports: [McpModule.forRoot({ name: 'unsendable', version: '1' })], providers: [Tools] })
    class AppModule {}
    app = await NestFactory.create(AppModule, { logger: logs });
    await app.listen(0, '127.0.0.1');
    const capabilities = { elicitation: { form: {}, url: {} }, sampling: {} };
    client = await connect(`${await app.getUrl()}/mcp`, 'modern', { capabilities });
  });
  beforeEach(() => logs.errors.splice(0));
  afterAll(async () => {
    await client.close();
    await app.close();
  });

  it.each([
    ['noSchema', '"schema"'],
    ['noMessage', '"message"'],
    ['nested', 'tree'],
    ['list', 'object'],
    ['noPage', '"url"'],
    ['noMessages', '"messages"'],
    ['thrown', 'tree'],
    ['thrownByHand', 'inputRequest'],
    ['emptyMessage', '"message"'],
  ])('fails in one sentence that names the handler and the key: %s', async (name, why) => {
    const outcome = await outcomeOf(client.callTool({ name }));

    expect(outcome).toMatchObject({ isError: true });
    expect(logs.errors).toHaveLength(1);
    const sentences = logs.errors[0].split('\n').filter(line => line.includes('MRTR_INVALID_INPUT_REQUEST'));
    expect(sentences).toEqual([
      expect.stringMatching(`Tools\\.${name} asks "region", .*${why}.* \\[MRTR_INVALID_INPUT_REQUEST\\]$`),
    ]);
  });

  it('is refused when it is made, where it has no schema', () => {
    expect(() => inputRequest.elicit({ message: 'Where?' } as never)).toThrow('"schema"');
  });
});

it('stops the application where an @Ask() has no message', async () => {
  @Injectable()
  class Silent {
    @Tool()
    go(@Ask('region', { schema: FLAT } as never) _region: unknown) {
      return 'went';
    }
  }
  @Module({ imports: [McpModule.forRoot({ name: 'silent', version: '1' })], providers: [Silent] })
  class AppModule {}
  await expect(listen(AppModule)).rejects.toThrow(/Silent\.go: @Ask\("region"\) needs a "message"/);
});
