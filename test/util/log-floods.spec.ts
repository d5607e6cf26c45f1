import { Injectable } from '@nestjs/common';
import { Ctx, type McpContext, Sink, Tool, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { z } from 'zod';
import { send, type Round } from '../fixtures/raw-client.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';

@Injectable()
class Fragile {
  @Tool()
  async ask(@Ctx() ctx: McpContext) {
    const { content } = await ctx.elicit('name', { message: 'Who?', schema: z.object({ name: z.string() }) });
    return content?.name;
  }

  @Tool()
  async wait() {}

  @Tool()
  async store() {}

  @Validator({ events: ['tools/call'], when: { name: 'wait' }, timeoutMs: 5 })
  hangs(): Promise<boolean> {
    return new Promise(() => undefined);
  }

  @Sink({ events: ['tools/call'], when: { name: 'store' } })
  journal({ payload }: InterceptorInvocation) {
    throw new Error(`no space for ${JSON.stringify(payload)}`);
  }
}

describe('the log has one line a minute', () => {
  let test: TestApp;
  let log: LogSpy;
  beforeEach(async () => {
    log = new LogSpy();
    test = await startApp([Fragile], { configure: app => app.useLogger(log) });
  });
  afterEach(() => test.close());

  const linesAfter = async (params: Round, about: string) => {
    const url = await test.url();
    for (let index = 0; index < 5; index++) await send(url, { ...params, args: { index } });
    return [...log.errors, ...log.warnings].filter(line => line.includes(about));
  };

  it.each([
    ['malformed states of calls', { name: 'ask', requestState: 'nonsense' }, 'requestState'],
    ['failures of a sink', { name: 'store' }, 'The sink journal failed'],
    ['timeouts of a validator', { name: 'wait' }, 'hangs, tools/call request'],
  ])('about %s', async (_, params, about) => {
    expect(await linesAfter(params, about)).toHaveLength(1);
  });
});
