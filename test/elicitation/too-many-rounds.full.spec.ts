import { Injectable, Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Client } from '@modelcontextprotocol/client';
import { Ctx, inputRequest, InputRequiredException, McpContext, McpModule, Tool } from 'nestjs-mcp';
import { LogSpy } from '../fixtures/log-spy.js';
import { connect, ERAS, outcomeOf } from '../gateway/support.js';

const FORM = { message: 'Which?', schema: { type: 'object', properties: {} } } as const;

@Injectable()
class Endless {
  @Tool()
  async awaited(@Ctx() ctx: McpContext) {
    for (;;) await ctx.elicit('size', FORM);
  }

  @Tool()
  thrown() {
    throw new InputRequiredException({
      inputRequests: { size: inputRequest.elicit(FORM), color: inputRequest.elicit(FORM) },
    });
  }

  @Tool()
  paused() {
    throw new InputRequiredException({ requestState: 'again' });
  }

  /** Takes what its question throws, and asks again. */
  @Tool()
  async stubborn(@Ctx() ctx: McpContext) {
    for (;;) await ctx.elicit('size', FORM).catch(() => undefined);
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'endless', version: '1', mrtr: { maxRounds: 2 } })],
  providers: [Endless],
})
class AppModule {}

const ANSWERING: Parameters<typeof connect>[2] = {
  capabilities: { elicitation: { form: {} } },
  prepare: client =>
    client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} })),
};

describe.each(ERAS)('a handler that asks in too many rounds (%s)', era => {
  const logs = new LogSpy();
  let app: INestApplication;
  let client: Client;

  beforeAll(async () => {
    app = await NestFactory.create(AppModule, { logger: logs });
    await app.listen(0, '127.0.0.1');
    client = await connect(`${await app.getUrl()}/mcp`, era, ANSWERING);
  });
  beforeEach(() => logs.errors.splice(0));
  afterAll(async () => {
    await client.close();
    await app.close();
  });

  it.each([
    ['awaited', '"size#3"'],
    ['thrown', '"size", "color"'],
    ['paused', 'to be called again'],
    ['stubborn', '"size#3"'],
  ])('is named in the log, once: %s', async (name, asked) => {
    const outcome = await outcomeOf(client.callTool({ name }));

    expect(outcome).toMatchObject({ message: expect.stringContaining('more than 2 rounds') });
    expect(logs.errors.filter(line => line.includes('MRTR_TOO_MANY_ROUNDS'))).toEqual([
      expect.stringMatching(
        `Endless\\.${name} asked ${asked} in round 3.*"mrtr\\.maxRounds" \\(2\\).*\\[MRTR_TOO_MANY_ROUNDS\\]`,
      ),
    ]);
  });
});
