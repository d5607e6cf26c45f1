import { setTimeout as after } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Tool, Validator } from 'nestjs-mcp';
import { PLATFORMS } from '../fixtures/matrix.js';
import { CSRF, startExplored, type ExploredApp } from './explored-app.js';

const API = '/mcp-explorer/api';
const CALL = { server: 'test', caller: { kind: 'anonymous' }, method: 'tools/call' };

let began = (): void => undefined;
const beginning = () => new Promise<void>(resolve => (began = resolve));

@Injectable()
class Slow {
  @Tool({ description: 'Waits until its caller is gone', annotations: { readOnlyHint: true } })
  wait(@Ctx() { signal }: McpContext) {
    began();
    return new Promise<string>((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(new Error('gone'))),
    );
  }

  @Tool({ description: 'Reports until its caller is gone', annotations: { readOnlyHint: true } })
  async flood(@Ctx() ctx: McpContext) {
    for (let index = 1; !ctx.signal.aborted; index++) {
      await ctx.reportProgress(index, undefined, 'x'.repeat(100_000));
      await after(1);
    }
    return 'flooded';
  }
}

@Injectable()
class SlowList {
  @Tool({ description: 'A tool' })
  tool() {
    return 'tool';
  }

  @Validator({ name: 'slow', events: ['tools/list'], phase: 'request' })
  async slow() {
    began();
    await after(300);
    return true;
  }
}

/** Sends a request as the page does, and leaves once its work began. */
async function leave(app: ExploredApp, path: string, body: object): Promise<void> {
  const gone = new AbortController();
  const hasBegun = beginning();
  const init = { method: 'POST', headers: CSRF, body: JSON.stringify(body), signal: gone.signal };
  const asking = fetch(await app.url(`${API}/${path}`), init);
  await Promise.race([hasBegun, asking]);
  gone.abort();
  await expect(asking).rejects.toThrow('aborted');
}

/** Asks until nothing is open: a client does not see when a server learns that it left. */
async function openAtLast(app: ExploredApp): Promise<Record<string, number>> {
  const deadline = performance.now() + 5000;
  for (;;) {
    const { open } = (await app.get(`${API}/live`)).json.servers[0];
    const left = Object.values<number>(open).some(count => count > 0);
    if (!left || performance.now() > deadline) return open;
    await after(20);
  }
}

describe.each(PLATFORMS)('on %s', platform => {
  const options = { platform, forceCloseConnections: true };

  it('a call of the page ends when the page leaves', async () => {
    const app = await startExplored([Slow], options);
    for (let index = 0; index < 3; index++) await leave(app, 'call', { ...CALL, params: { name: 'wait' } });
    expect(await openAtLast(app)).toMatchObject({ calls: 0, responses: 0 });
    expect((await app.get(`${API}/live`)).json.calls[0]).toMatchObject({ outcome: 'cancelled' });
    await app.close();
  });

  it('a call ends whose answer is too large', async () => {
    const app = await startExplored([Slow], options);
    const { status } = await app.post(`${API}/call`, { ...CALL, params: { name: 'flood' } });
    expect(status).toBe(502);
    expect(await openAtLast(app)).toMatchObject({ calls: 0, responses: 0 });
    await app.close();
  });

  it('the session of a caller ends when the page leaves', async () => {
    const app = await startExplored([SlowList], options);
    const body = { server: 'test', caller: { kind: 'anonymous' }, revision: '2025-11-25' };
    for (let index = 0; index < 3; index++) await leave(app, 'callers', body);
    expect(await openAtLast(app)).toMatchObject({ sessions: 0, responses: 0 });
    await app.close();
  });
});
