import { Injectable, Module } from '@nestjs/common';
import { Ctx, McpContext, McpModule, Tool } from 'nestjs-mcp';
import { connect, ERAS, listen, type Running } from '../gateway/support.js';

const FORM = { message: 'Which?', schema: { type: 'object', properties: {} } } as const;

class Plan {
  readonly at = new Date(0);
  readonly left = undefined;
  describe() {
    return 'a plan';
  }
}

@Injectable()
class Tools {
  readonly seen: unknown[] = [];

  @Tool()
  async steps(@Ctx() ctx: McpContext) {
    this.seen.push(await ctx.step('plan', () => new Plan()), await ctx.step('date', () => new Date(0)));
    await ctx.elicit('one', FORM);
    return 'done';
  }
}

// See types.ts for what the types say.
it.each(ERAS)('what comes out of a step is JSON, also in the round that runs it (%s)', async era => {
  @Module({ imports: [McpModule.forRoot({ name: 'steps', version: '1' })], providers: [Tools] })
  class AppModule {}
  const { app, url }: Running = await listen(AppModule);
  const client = await connect(url, era, {
    capabilities: { elicitation: { form: {} } },
    prepare: one => one.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} })),
  });
  await client.callTool({ name: 'steps' });
  const round = [{ at: new Date(0).toISOString() }, new Date(0).toISOString()];
  // A 2025-era handler waits, and one of 2026-07-28 runs again.
  expect(app.get(Tools).seen).toStrictEqual(era === 'modern' ? [...round, ...round] : round);
  await client.close();
  await app.close();
});
