import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { createClient } from 'redis';
import { Args, Ctx, McpContext, Tool, type McpModuleOptions } from 'nestjs-mcp';
import { McpRedisModule } from 'nestjs-mcp/redis';
import { send } from '../fixtures/raw-client.js';
import { startApp, textOf, type TestApp } from '../fixtures/matrix.js';
import { describeWithRedis, RedisServer } from './redis-server.js';
import { OVERSIZED } from './shop.js';

const INVALID_STATE = { code: -32602, data: { reason: 'invalid_request_state' } };
const PAYEE = { type: 'object', properties: { payee: { type: 'string' } } } as const;
const YES = { sure: { action: 'accept', content: {} } };
const SURE = { message: 'Sure?', schema: { type: 'object', properties: {} } } as const;

@Injectable()
class Bank {
  @Tool({ inputSchema: PAYEE })
  async pay(@Ctx() ctx: McpContext, @Args() { payee }: { payee: string }) {
    const quote = await ctx.step('quote', () => ({ payee, amount: 5 }));
    await ctx.elicit('sure', SURE);
    return `paid ${quote.amount} to ${quote.payee}`;
  }
}

describeWithRedis('someone who writes to Redis', () => {
  const redis = new RedisServer();
  const attacker = () => createClient({ url: redis.url });
  let client: ReturnType<typeof attacker>;
  let bank: TestApp;
  beforeAll(async () => {
    await redis.start();
    client = attacker();
    await client.connect();
  });
  afterEach(async () => {
    await bank.close();
    await client.flushAll();
  });
  afterAll(async () => {
    client.destroy();
    await redis.kill();
  });

  /** Starts a payment to each payee. @returns functions that confirm them, and the keys of their states */
  const begin = async (mrtr: McpModuleOptions['mrtr'], ...payees: string[]) => {
    const prefix = `${randomUUID()}:`;
    bank = await startApp([Bank], {
      mcp: { mrtr },
      module: { imports: [McpRedisModule.forRoot({ url: redis.url, prefix })] },
    });
    const url = await bank.url();
    const payments = [];
    for (const payee of payees) {
      const before = await client.keys(`${prefix}mrtr:*`);
      const { result } = await send(url, { name: 'pay', args: { payee } });
      const after = await client.keys(`${prefix}mrtr:*`);
      const [key] = after.filter(stored => !before.includes(stored));
      const confirmation = {
        name: 'pay',
        args: { payee },
        requestState: result!.requestState,
        inputResponses: YES,
      };
      payments.push({ key, confirm: () => send(url, confirmation) });
    }
    return payments;
  };

  describe.each([false, true])('with mrtr.encrypt %j', encrypt => {
    const mrtr = { ...OVERSIZED, encrypt };

    it('cannot replace the state of a call', async () => {
      const [{ key: plainKey }] = await begin(OVERSIZED, 'eve');
      const forged = (await client.get(plainKey))!;
      await bank.close();
      const [{ key, confirm }] = await begin(mrtr, 'ann');
      const stored = (await client.get(key))!;
      await client.set(key, forged);
      expect((await confirm()).error).toMatchObject(INVALID_STATE);
      await client.set(key, stored);
      expect(textOf((await confirm()).result!)).toBe('paid 5 to ann');
    });

    it('cannot exchange the states of two calls', async () => {
      const [ann, eve] = await begin(mrtr, 'ann', 'eve');
      const [ofAnn, ofEve] = [await client.get(ann.key), await client.get(eve.key)];
      await client.set(ann.key, ofEve!);
      await client.set(eve.key, ofAnn!);
      expect((await ann.confirm()).error).toMatchObject(INVALID_STATE);
      expect((await eve.confirm()).error).toMatchObject(INVALID_STATE);
    });
  });
});
