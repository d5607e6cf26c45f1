import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import { Tool } from 'nestjs-mcp';
import { CrossBoundaryGuard, RateLimit } from 'nestjs-mcp/interceptors';
import { z } from 'zod';
import { cells, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

const secret = (body: string) => ['gh', 'p_', body.repeat(36 / body.length)].join('');
const SECRETS = ['a8Kd0Zq3Vt7Rm2Xw9L', 'p5Hn1Yc6Gf4Jb8Sd3E'].map(secret);

@Injectable()
class Vault {
  @Tool()
  read() {
    return SECRETS[0];
  }
}

interface Verdict {
  readonly valid: boolean;
}

@Injectable()
class LogsIn implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context
      .switchToHttp()
      .getRequest<{ headers: Record<string, string | undefined>; user?: object }>();
    const id = request.headers['x-user'];
    if (id !== undefined) request.user = { id };
    return true;
  }
}

describe.each(cells())('who invokes an exposed interceptor over $name', ({ platform, era, legacy }) => {
  const alice = { principal: { type: 'user', id: 'alice' } };
  let test: TestApp;
  const clientOf = (user?: string) =>
    test.client({ era, headers: user === undefined ? {} : { 'x-user': user } });
  const invoke = (client: Client, params: object) =>
    client.request(
      { method: 'interceptor/invoke', params: { event: 'tools/call', phase: 'request', ...params } },
      z.looseObject({ valid: z.boolean() }),
    ) as Promise<Verdict>;
  const take = async (client: Client, context: object = alice) =>
    (await invoke(client, { name: 'rate-limit', payload: { name: 'read' }, context })).valid;
  const record = async (client: Client, text: string, context: object = alice) =>
    (
      await invoke(client, {
        name: 'cross-boundary-guard-recorder',
        phase: 'response',
        payload: { content: [{ type: 'text', text }] },
        context,
      })
    ).valid;
  const maySend = async (client: Client, text: string, context: object = alice) =>
    (
      await invoke(client, {
        name: 'cross-boundary-guard',
        payload: { name: 'mail', arguments: { text } },
        context,
      })
    ).valid;

  beforeEach(async () => {
    test = await startApp(
      [Vault, RateLimit({ points: 2 }), CrossBoundaryGuard({ ledger: { maxSecrets: 3 } })],
      {
        platform,
        mcp: { legacy, interceptors: { expose: true } },
        configure: app => app.useGlobalGuards(new LogsIn()),
      },
    );
  });
  afterEach(() => test.close());

  it('spends no points of the caller that it names, nor of another invoker', async () => {
    const [stranger, host, caller] = [await clientOf(), await clientOf('host'), await clientOf('alice')];
    expect([await take(stranger), await take(stranger), await take(stranger)]).toEqual([true, true, false]);
    expect([await take(host), await take(caller)]).toEqual([true, true]);
    expect(textOf(await caller.callTool({ name: 'read' }))).toBe(SECRETS[0]);
  });

  it('is one invoker over several connections, once it is known', async () => {
    for (const valid of [true, true, false]) expect(await take(await clientOf('host'))).toBe(valid);
  });

  it('learns nothing of the secrets that others read', async () => {
    const [stranger, host, caller] = [await clientOf(), await clientOf('host'), await clientOf('alice')];
    await caller.callTool({ name: 'read' });
    const { sessionId } = caller.transport!;
    await record(host, SECRETS[1]);
    for (const context of [alice, { ...alice, ...(sessionId !== undefined && { sessionId }) }]) {
      expect([
        await maySend(stranger, SECRETS[0], context),
        await maySend(stranger, SECRETS[1], context),
      ]).toEqual([true, true]);
    }
    expect([await maySend(host, SECRETS[0]), await maySend(host, SECRETS[1])]).toEqual([true, false]);
  });

  it('takes no room for the secrets of others', async () => {
    const [stranger, caller] = [await clientOf(), await clientOf('alice')];
    const { sessionId } = caller.transport!;
    await record(stranger, SECRETS[1], { ...alice, ...(sessionId !== undefined && { sessionId }) });
    expect(textOf(await caller.callTool({ name: 'read' }))).toBe(SECRETS[0]);
  });
});
