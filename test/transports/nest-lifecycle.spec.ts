import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, McpServerRegistry, Tool } from 'nestjs-mcp';
import { deferred } from '../fixtures/deferred.js';
import { Inbox } from '../fixtures/inbox.js';
import { platforms, startApp, type TestApp } from '../fixtures/matrix.js';

let started: Inbox<string>;
let aborted: Inbox<string>;

@Injectable()
class Tools {
  @Tool()
  endless(@Ctx() ctx: McpContext) {
    started.put(ctx.era);
    return new Promise((_resolve, reject) => {
      ctx.signal.addEventListener('abort', () => {
        aborted.put(ctx.era);
        reject(ctx.signal.reason as Error);
      });
    });
  }

  @Tool()
  stubborn(@Ctx() ctx: McpContext) {
    started.put(ctx.era);
    return new Promise(() => undefined);
  }
}

/** What a call that was under way at the end comes to: never a result. */
const outcome = (call: Promise<unknown>) =>
  call.then(
    () => 'a result',
    () => 'an error',
  );

describe.each(platforms())('app.close() on %s', platform => {
  let test: TestApp;

  beforeEach(async () => {
    started = new Inbox();
    aborted = new Inbox();
    // Handlers that do not end have as long as that.
    test = await startApp([Tools], { platform, mcp: { shutdownTimeoutMs: 100 } });
  });

  it.each(['endless', 'stubborn'])(
    'ends streams of both eras and running calls (%s), and tells the handlers',
    async name => {
      const modern = await test.client();
      const legacy = await test.client({ era: 'legacy' });
      const subscription = await modern.listen({ toolsListChanged: true });
      const told = deferred();
      legacy.setNotificationHandler('notifications/tools/list_changed', () => told.resolve());
      await test.app.get(McpServerRegistry).add('tool', { name: 'late' }, () => 'late');
      // The session's stream is open, for something came down it.
      await told.promise;
      const calls = [outcome(modern.callTool({ name })), outcome(legacy.callTool({ name }))];
      await started.take();
      await started.take();

      await test.app.close();
      expect(await subscription.closed).toBe('graceful');
      if (name === 'endless')
        expect([await aborted.take(), await aborted.take()].sort()).toEqual(['legacy', 'modern']);
      await Promise.all([modern.close(), legacy.close()]);
      expect(await Promise.all(calls)).toEqual(['an error', 'an error']);
    },
  );

  it('takes no request any more', async () => {
    const url = await test.url();
    await test.app.close();
    await expect(fetch(url)).rejects.toThrow();
  });

  it('may be called twice', async () => {
    await test.app.close();
    await test.app.close();
  });
});
