import { setTimeout as pause } from 'node:timers/promises';
import {
  Injectable,
  Module,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type INestApplication,
  type NestInterceptor,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { retry } from 'rxjs';
import { Ctx, McpContext, McpModule, Tool } from 'nestjs-mcp';
import { replayRounds } from '../../lib/testing/index.js';
import { send } from '../fixtures/raw-client.js';
import { deferred } from '../fixtures/deferred.js';
import { LogSpy } from '../fixtures/log-spy.js';

const FORM = { message: 'Which?', schema: { type: 'object', properties: {} } } as const;
const ACCEPTED = { action: 'accept', content: {} } as const;

@Injectable()
class Retries implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(retry(1));
  }
}

@Injectable()
class Tools {
  readonly ended: string[] = [];
  readonly failed = ['once'];
  release = deferred<void>();
  late = deferred<void>();

  /** A promise that never learns that the round has ended. */
  @Tool()
  async around(@Ctx() ctx: McpContext) {
    return new Promise(resolve => {
      ctx.elicit('one', FORM).then(
        ({ action }) => resolve(action),
        () => undefined,
      );
    });
  }

  @Tool()
  async pausing(@Ctx() ctx: McpContext) {
    for (;;) {
      try {
        return (await ctx.elicit('one', FORM)).action;
      } catch {
        await pause(20);
      }
    }
  }

  /** Ends long after its round. */
  @Tool()
  async cleansUp(@Ctx() ctx: McpContext) {
    try {
      return (await ctx.elicit('one', FORM)).action;
    } finally {
      await this.release.promise;
      this.late.resolve();
    }
  }

  /** Fails at first, while it asks and does a step; and takes longer than a handler has for its way out. */
  @Tool()
  @UseInterceptors(Retries)
  async retried(@Ctx() ctx: McpContext) {
    if (this.failed.splice(0, 1).length > 0) {
      const slow = ctx.step('slow', () => this.release.promise);
      await Promise.all([ctx.elicit('one', FORM), slow, Promise.reject(new Error('at first'))]);
    }
    this.release.resolve();
    await ctx.step('long', () => pause(1_200));
    return 'done';
  }

  /** Uses what is over on its way out. */
  @Tool()
  async nested(@Ctx() ctx: McpContext) {
    try {
      try {
        return (await ctx.elicit('one', FORM)).action;
      } finally {
        await ctx.step('inner', () => 'cleaned up');
      }
    } finally {
      this.ended.push('outer');
    }
  }
}

describe('a handler that does not end with its round', () => {
  const logs = new LogSpy();
  let app: INestApplication;
  let url: string;
  beforeAll(async () => {
    @Module({
      imports: [McpModule.forRoot({ name: 'abandoned-handler', version: '1' })],
      providers: [Tools, Retries],
    })
    class AppModule {}
    app = await NestFactory.create(AppModule, { logger: logs });
    await app.listen(0, '127.0.0.1');
    url = `${await app.getUrl()}/mcp`;
  });
  beforeEach(() => (logs.errors.length = 0));
  afterAll(() => app.close());

  const answer = async (name: string) => {
    const { result } = await send(url, { name });
    expect(Object.keys(result!.inputRequests!)).toEqual(['one']);
    return send(url, { name, requestState: result!.requestState, inputResponses: { one: ACCEPTED } });
  };

  it.each(['around', 'pausing'])('is answered without, and told in the log (%s)', async name => {
    expect((await answer(name)).result).toMatchObject({ content: [{ text: 'accept' }] });
    expect(logs.errors.join()).toContain(`Tools.${name} still runs, but its round`);
    expect(logs.errors.join()).toContain('MRTR_ASK_SWALLOWED');
  });

  it('ends later, to no effect', async () => {
    const tools = app.get(Tools);
    const { result } = await send(url, { name: 'cleansUp' });
    expect(result!.resultType).toBe('input_required');
    tools.release.resolve();
    await tools.late.promise;
  });

  it('runs all finally blocks where it does end', async () => {
    expect((await answer('nested')).result).toMatchObject({ content: [{ text: 'accept' }] });
    expect(app.get(Tools).ended).toEqual(['outer', 'outer']);
    expect(logs.errors).toEqual([]);
  });

  it('is waited for where it runs again, whatever the run that failed has left behind', async () => {
    app.get(Tools).release = deferred();
    expect((await send(url, { name: 'retried' })).result).toMatchObject({ content: [{ text: 'done' }] });
    expect(logs.errors).toEqual([]);
  });

  it('is told by replayRounds', async () => {
    const tools = app.get(Tools);
    await expect(replayRounds(ctx => tools.around(ctx), { one: ACCEPTED })).rejects.toThrow(
      'still runs, but its round has gone to the client',
    );
  });
});
