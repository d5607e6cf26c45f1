import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Invocation } from '../chain/result.js';
import { ExchangeBag } from '../messages/context.js';
import { invocationOf } from '../../../test/fixtures/invocation.js';
import { KeyBound } from './sessions.js';
import { RateLimit, type RateLimitInterceptor, type RateLimitOptions } from './rate-limit.js';

type Context = Invocation['context'];
const passes = async (limit: RateLimitInterceptor, context?: Context, name = 'tool') =>
  ((await limit.check(invocationOf({ name }, { context }))) as { valid: boolean }).valid;
const create = (options?: RateLimitOptions) => new (RateLimit(options))();

const JO: Context = { sessionId: '1', principal: { type: 'user', id: 'jo' } };
const JO_AGAIN: Context = { ...JO, sessionId: '2' };
const BOB: Context = { principal: { type: 'user', id: 'bob' } };
const ANN: Context = { sessionId: '1', principal: { type: 'user', id: 'ann' } };
const NAMELESS: Context = { principal: { type: 'user' } };

describe('RateLimit', () => {
  it.each<[string, RateLimitOptions, [Context, string?], [Context, string?], boolean]>([
    ['a principal in two sessions', {}, [JO], [JO_AGAIN], false],
    ['two principals', {}, [JO], [ANN], true],
    ['nobody in two sessions', {}, [{ sessionId: '1' }], [{ sessionId: '2' }], false],
    ['a caller without an id in two sessions', {}, [{ ...NAMELESS, sessionId: '1' }], [NAMELESS], false],
    ['nobody in two sessions', { key: 'session' }, [{ sessionId: '1' }], [{ sessionId: '2' }], true],
    ['nobody and somebody', {}, [undefined], [JO], true],
    ['nobody twice', {}, [undefined], [{}], false],
    ['a service of the same id', {}, [JO], [{ principal: { type: 'service', id: 'jo' } }], true],
    ['two sessions', { key: 'session' }, [JO], [JO_AGAIN], true],
    ['two tools', { key: ['principal', 'tool'] }, [JO, 'a'], [JO, 'b'], true],
    ['one tool', { key: ['principal', 'tool'] }, [JO, 'a'], [JO_AGAIN, 'a'], false],
    ['one key of the application', { key: () => 'x' }, [JO], [ANN], false],
    ['long names', { key: 'tool' }, [JO, 'a'.repeat(500)], [JO, 'b'.repeat(500)], true],
    ['keys for which there is no room', { key: 'tool', maxKeys: 1, points: 1 }, [JO, 'a'], [JO, 'b'], true],
  ])('counts %s: %j', async (_, options, first, second, apart) => {
    const limit = create({ points: 1, ...options });
    expect(await passes(limit, ...first)).toBe(true);
    expect(await passes(limit, ...second)).toBe(apart);
  });

  it('keeps room for its own callers, whoever an invoker makes up', async () => {
    const limit = create({ points: 1, maxKeys: 1 });
    const bag = new ExchangeBag({}, {}, {});
    const taken = [JO, ANN, BOB].map(
      context => limit.check(invocationOf({ name: 'a' }, { context, bag })) as Promise<{ valid: boolean }>,
    );
    expect((await Promise.all(taken)).map(({ valid }) => valid)).toEqual([true, true, false]);
    expect([await passes(limit, JO), await passes(limit, ANN)]).toEqual([true, true]);
  });

  it('says when to try again', async () => {
    const limit = create({ points: 2, duration: 30, cost: () => 2 });
    await passes(limit, JO);
    expect(await limit.check(invocationOf({ name: 'a' }, { context: JO }))).toEqual({
      valid: false,
      severity: 'error',
      messages: [{ message: 'Too many requests: try again in 30 s', severity: 'error' }],
      info: { retryAfterMs: expect.any(Number) },
    });
  });

  it('counts in a limiter of the application, and fails where that fails', async () => {
    const limiter = new RateLimiterMemory({ points: 1, duration: 10 });
    const limit = create({ limiter });
    expect([await passes(limit, JO), await passes(limit, JO)]).toEqual([true, false]);
    const broken = create({ limiter: { consume: () => Promise.reject(new Error('no connection')) } });
    await expect(passes(broken, JO)).rejects.toMatchObject({ cause: new Error('no connection') });
  });

  it('takes its limiter from the container', async () => {
    const Limit = RateLimit({ limiter: 'LIMITER' });
    const consume = jest.fn().mockResolvedValue({});
    const module = await Test.createTestingModule({
      providers: [Limit, { provide: 'LIMITER', useValue: { consume } }],
    }).compile();
    expect(await passes(module.get(Limit), JO)).toBe(true);
    expect(consume).toHaveBeenCalledWith(JSON.stringify(['principal:user:jo']), 1);
  });

  it.each([{ points: 0 }, { duration: 0 }, { duration: 1.5 }])('checks its options: %j', options => {
    expect(() => RateLimit(options)).toThrow(RangeError);
  });
});

it('KeyBound lets keys beyond its bound share one, until others have expired', () => {
  let now = 0;
  const bound = new KeyBound(1, 10, () => now);
  const admitted = [bound.admit('a'), bound.admit('b'), bound.admit('c'), bound.admit('a')];
  now = 10;
  expect([...admitted, bound.admit('b')]).toEqual(['key:a', 'shared', 'shared', 'key:a', 'key:b']);
});
