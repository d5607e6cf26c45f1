import { Injectable, Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, McpContext, McpModule, Tool } from 'nestjs-mcp';
import { send } from '../fixtures/raw-client.js';
import { deferred } from '../fixtures/deferred.js';
import { LogSpy } from '../fixtures/log-spy.js';

const FORM = { message: 'Which?', schema: { type: 'object', properties: {} } } as const;

@Injectable()
class Tools {
  late = deferred<void>();

  @Tool()
  ask(@Ctx() ctx: McpContext) {
    void this.afterwards(() => ctx.elicit('late', FORM));
    return 'returned';
  }

  @Tool()
  step(@Ctx() ctx: McpContext) {
    void this.afterwards(() => ctx.step('late', () => 1));
    return 'returned';
  }

  private async afterwards(work: () => Promise<unknown>): Promise<void> {
    await this.late.promise;
    await work();
  }
}

describe('what a handler does after it has returned', () => {
  const logs = new LogSpy();
  let app: INestApplication;
  let url: string;
  beforeAll(async () => {
    @Module({ imports: [McpModule.forRoot({ name: 'late', version: '1' })], providers: [Tools] })
    class AppModule {}
    app = await NestFactory.create(AppModule, { logger: logs });
    await app.listen(0, '127.0.0.1');
    url = `${await app.getUrl()}/mcp`;
  });
  afterAll(() => app.close());

  it.each(['ask', 'step'])('is told in the log, and ends nothing (%s)', async name => {
    const tools = app.get(Tools);
    tools.late = deferred();
    logs.errors.length = 0;
    expect((await send(url, { name })).result).toMatchObject({ content: [{ text: 'returned' }] });
    tools.late.resolve();
    await new Promise(resolve => setImmediate(resolve));
    expect(logs.errors.join()).toContain(`Tools.${name} used "late" after it had returned`);
    expect(logs.errors.join()).toContain('MRTR_ASK_AFTER_RETURN');
  });
});
