import { Chain } from '../../../lib/interceptors/chain/chain.js';
import type { ChainParams } from '../../../lib/interceptors/chain/params.js';
import type { WhenRule } from '../../../lib/interceptors/chain/when.js';
import type { Hook } from '../../../lib/interceptors/protocol/types.js';
import {
  append,
  crash,
  deny,
  EVENT,
  mutator,
  pass,
  run,
  trailOf,
  validator,
  type StubOptions,
} from './stubs.js';

const outcomes = async (...args: Parameters<typeof run>) =>
  (await run(...args)).results.map(({ interceptor, outcome }) => `${interceptor}: ${outcome}`);

describe('overrides win over what is declared', () => {
  it.each([
    ['the mode', deny, { overrides: { mode: 'audit' } }, 'success'],
    ['the mode, the other way', deny, { mode: 'audit', overrides: { mode: 'active' } }, 'validation_failed'],
    ['failOpen', crash, { overrides: { failOpen: true } }, 'success'],
    [
      'failOpen, the other way',
      crash,
      { failOpen: true, overrides: { failOpen: false } },
      'validation_failed',
    ],
    [
      'hooks that leave the event out',
      deny,
      { hooks: hooks('*'), overrides: { hooks: hooks('tools/list') } },
      'success',
    ],
    [
      'hooks that keep it',
      deny,
      { hooks: hooks('*'), overrides: { hooks: hooks('tools/*') } },
      'validation_failed',
    ],
  ] as [string, typeof deny, StubOptions, string][])('%s', async (_what, behaviour, options, status) => {
    expect((await run([validator('v', behaviour, options)])).status).toBe(status);
  });

  it.each([
    ['an event that is not declared', hooks('tools/call'), hooks('tools/list')],
    ['a wildcard over a single event', hooks('tools/call'), hooks('*')],
    ['a wildcard over a namespace', hooks('tools/*'), hooks('*')],
    ['another namespace', hooks('tools/*'), hooks('prompts/get')],
    ['a phase that is not declared', hooks('*'), [{ events: ['tools/call'], phase: 'response' as const }]],
  ])('an override may not widen: %s', (_what, declared, overrides) => {
    const entry = validator('v', pass, { hooks: declared, overrides: { hooks: overrides } });
    expect(() => new Chain([entry])).toThrow(/can only narrow its hooks/);
    const twice = { ...entry, overrides: { hooks: [...overrides, ...overrides] } };
    const [{ events }] = overrides;
    expect(() => new Chain([twice])).toThrow(`hooks ${events.join(', ')}, which "v" does not`);
  });
});

function hooks(...events: string[]): Hook[] {
  return [{ events, phase: 'request' }];
}

it.each([
  ['*', 'tools/call', true],
  ['*', 'custom/event', true],
  ['tools/*', 'tools/list', true],
  ['tools/*', 'toolset/list', false],
  ['tools/call', 'tools/call', true],
  ['tools/call', 'tools/calls', false],
  ['tools/call', 'tools/list', false],
])('the hook %s for %s: %s', async (pattern, event, hooked) => {
  const entry = validator('v', pass, { hooks: hooks(pattern) });
  expect(await outcomes([entry], { event })).toEqual(hooked ? ['v: pass'] : []);
  expect(await outcomes([entry], { event, phase: 'response' })).toEqual([]);
});

describe('compat is checked against the negotiated revision', () => {
  it.each([
    [{ minProtocol: '2025-06-18' }, '2025-06-18', true],
    [{ minProtocol: '2025-06-18' }, '2025-03-26', false],
    [{ minProtocol: '2025-06-18', maxProtocol: '2025-11-25' }, '2025-11-25', true],
    [{ minProtocol: '2025-06-18', maxProtocol: '2025-11-25' }, '2026-07-28', false],
    [{ minProtocol: '2099-01-01' }, undefined, true],
  ])('%j with %s: %s', async (compat, protocolVersion, runs) => {
    const result = await run([validator('v', deny, { compat })], { protocolVersion });
    expect(result.status).toBe(runs ? 'validation_failed' : 'success');
    expect(result.skipped).toEqual(runs ? [] : [{ interceptor: 'v', host: 'local', reason: 'compat' }]);
  });
});

it('a final validator that is left out is left out once', async () => {
  const skips = validator('v', pass, { traits: { final: true }, compat: { minProtocol: '2099-01-01' } });
  const { skipped } = await run([skips, mutator('m')], { protocolVersion: '2026-07-28' });
  expect(skipped).toEqual([{ interceptor: 'v', host: 'local', reason: 'compat' }]);
});

describe('configuration', () => {
  const checkConfig = (config: object) => ('max' in config ? undefined : '"max" is missing');

  it('is checked before the interceptor runs, and a breach is a failure of it', async () => {
    let ran = false;
    const entry = validator('v', () => ((ran = true), { valid: true }), { checkConfig });
    expect(await run([entry])).toMatchObject({
      status: 'validation_failed',
      results: [{ outcome: 'crash', error: 'its configuration is invalid: "max" is missing' }],
    });
    expect(ran).toBe(false);
  });

  it('of the run wins over the override', async () => {
    const seen: unknown[] = [];
    const entry = validator('v', ({ config }) => (seen.push(config), { valid: true }), {
      overrides: { config: { a: 1 } },
    });
    await run([entry]);
    await run([entry], { config: { v: { b: 2 }, other: { c: 3 } } });
    expect(seen).toEqual([{ a: 1 }, { b: 2 }]);
  });
});

describe('a configuration of the run', () => {
  const configOf = async (hosts: string[], config: Record<string, object>, name = 'v') => {
    const seen: Record<string, unknown> = {};
    const entries = hosts.map(host =>
      validator(name, invocation => ((seen[host] = invocation.config), { valid: true }), { host }),
    );
    await run(entries, { config: config as never });
    return seen;
  };

  it.each([
    ['by name', ['x', 'y'], { v: { a: 1 } }, { x: { a: 1 }, y: { a: 1 } }],
    ['by name, of the local one alone', ['local', 'y'], { v: { a: 1 } }, { local: { a: 1 }, y: undefined }],
    ['by host, which wins', ['x', 'y'], { v: { a: 1 }, 'y/v': { b: 2 } }, { x: { a: 1 }, y: { b: 2 } }],
  ])('is found %s', async (_how, hosts, config, seen) => {
    expect(await configOf(hosts, config)).toEqual(seen);
  });

  it('is for no interceptor whose name is another one with its host', async () => {
    expect(await configOf(['evil'], { 'x/v': { key: 1 } }, 'x/v')).toEqual({ evil: undefined });
    expect(await configOf(['evil'], { 'evil/x/v': { key: 1 } }, 'x/v')).toEqual({ evil: { key: 1 } });
  });
});

describe('selection by name', () => {
  const entries = [
    validator('a', pass, { host: 'x' }),
    validator('a', pass, { host: 'y' }),
    validator('b', pass, { host: 'x' }),
  ];

  it.each([
    [['a'], ['x/a', 'y/a']],
    [['y/a'], ['y/a']],
    [
      ['b', 'y/a'],
      ['y/a', 'x/b'],
    ],
  ])('%j runs %j', async (interceptors, ran) => {
    const { results } = await run(entries, { interceptors });
    expect(results.map(({ host, interceptor }) => `${host}/${interceptor}`)).toEqual(ran);
  });

  it.each(['nope', 'x/nope', 'z/w'])('refuses a name that nothing has: %s', async name => {
    const chain = new Chain([...entries, validator('z/w', pass, { host: 'x' })]);
    const params = { event: 'tools/call', phase: 'request', direction: 'send', payload: {} } as const;
    await expect(chain.execute({ ...params, interceptors: [name] })).rejects.toThrow(
      /the chain has no interceptor/,
    );
  });
});

describe('a condition', () => {
  it.each([
    ['holds', () => true, ['v: deny'], 'validation_failed'],
    ['does not hold', () => false, [], 'success'],
    ['does not hold, later', () => Promise.resolve(false), [], 'success'],
    [
      'throws',
      () => {
        throw new Error('x');
      },
      ['v: crash'],
      'validation_failed',
    ],
    ['rejects', () => Promise.reject(new Error('x')), ['v: crash'], 'validation_failed'],
  ])('that %s', async (_what, when, ran, status) => {
    const entries = [validator('v', deny, { traits: { when } })];
    expect(await outcomes(entries)).toEqual(ran);
    expect((await run(entries)).status).toBe(status);
  });

  const ada = { type: 'user', id: 'ada' } as const;
  const call = { payload: { name: 'pay_card' }, context: { principal: ada }, protocolVersion: '2026-07-28' };
  const result = { ...call, phase: 'response', payload: {} } as const;

  const reading = (payload: object): Partial<ChainParams> => ({ event: 'resources/read', payload });
  const completing = (ref: object, rest: object = {}): Partial<ChainParams> => ({
    event: 'completion/complete',
    payload: { ref, ...rest },
  });

  it.each<[WhenRule, Partial<ChainParams>, boolean]>([
    [{}, call, true],
    [{ name: 'pay_card' }, call, true],
    [{ name: 'pay_*' }, call, true],
    [{ name: ['get', '*_card'] }, call, true],
    [{ name: 'pay' }, call, false],
    [{ name: 'pay_*' }, { ...call, payload: {} }, false],
    // What a message is about is said by its event, whatever else its caller adds.
    [{ name: 'pay_*' }, { ...call, payload: { name: 'pay_card', uri: 'a://b' } }, true],
    [{ name: 'a://b' }, { ...call, payload: { name: 'pay_card', uri: 'a://b' } }, false],
    [{ name: 'shop://*' }, reading({ uri: 'shop://1' }), true],
    [{ name: 'shop://*' }, reading({ uri: 'shop://1', name: 'a' }), true],
    [{ name: 'shop://*' }, reading({ uri: 'shop://1', name: 5 }), true],
    [{ name: 'shop://x' }, reading({ uri: 'shop://%78' }), true],
    [{ name: 'SHOP://x' }, reading({ uri: 'Shop://X' }), true],
    [{ name: 'shop://*' }, reading({ uri: 'other://1' }), false],
    [{ name: 'file:///My%20Docs/*' }, reading({ uri: 'FILE:///My Docs/a' }), true],
    [{ name: 'https://example.com/*' }, reading({ uri: 'HTTPS://example.com/' }), true],
    [{ name: 'https://example.com:443/*' }, reading({ uri: 'https://example.com/a' }), true],
    [{ name: 'vault://secret/' }, reading({ uri: 'VAULT://secret/' }), true],
    [{ name: 'https://example.com/*' }, reading({ uri: 'https://example.org/a' }), false],
    [{ name: 'file:///*' }, reading({ uri: 'FILE:///' }), true],
    [{ name: 'file:///*' }, reading({ uri: 'FILE://localhost/' }), true],
    [{ name: 'file:///*' }, reading({ uri: 'FILE:/' }), true],
    [{ name: 'vault://*' }, reading({ uri: 'VAULT://' }), true],
    [{ name: 'https://example.com:*/a' }, reading({ uri: 'HTTPS://example.com:443/a' }), true],
    [{ name: 'https://example.com:*/a' }, reading({ uri: 'HTTPS://example.com:443/%61' }), true],
    [{ name: 'https://example.com:*/a' }, reading({ uri: 'https://u@example.com:443/a' }), true],
    [{ name: 'https://example.com:*/a' }, reading({ uri: 'https://example.com/a' }), true],
    [{ name: 'https://example.com:*/a' }, reading({ uri: 'https://example.com/b' }), false],
    [{ name: 'http://[::1]:*/*' }, reading({ uri: 'http://[::1]/a' }), true],
    [{ name: 'https://example.com:80*' }, reading({ uri: 'https://example.com:443/' }), false],
    [{ name: 'hello' }, completing({ type: 'ref/prompt', name: 'hello' }), true],
    [{ name: 'hello' }, completing({ type: 'ref/prompt', name: 'hello', uri: 'a://b' }, { name: 'z' }), true],
    [{ name: 'a://*' }, completing({ type: 'ref/resource', uri: 'a://{id}', name: 'z' }), true],
    [{ name: 'pay_*' }, { event: 'tools/list', payload: { name: 'pay_card' } }, false],
    [{ name: 'pay_*' }, { event: 'roots/list', phase: 'response', payload: {} }, false],
    [{ name: 'pay_*' }, { event: 'my/event', payload: { name: 'pay_card' } }, true],
    [{ name: 'a://*' }, { event: 'my/event', payload: { name: 'z', uri: 'a://b' } }, true],
    [{ name: 'vault://*' }, { event: 'my/event', payload: { uri: 'VAULT://a' } }, true],
    [{ name: 'vault://*' }, { event: 'my/event', payload: { uri: 'vault:%2f%2fa' } }, true],
    [{ name: 'vault' }, { event: 'my/event', payload: { name: 'VAULT' } }, false],
    [{ name: 'pay_*' }, { event: 'my/event', phase: 'response', payload: {}, request: {} }, false],
    [{ name: 'pay_*' }, { event: 'constructor', payload: { name: 'pay_card' } }, true],
    [{ name: 'pay_*' }, { ...result, request: { name: 'pay_card' } }, true],
    [{ name: 'pay_*' }, { ...result, request: { name: 'get' } }, false],
    [{ principal: { type: 'user' } }, call, true],
    [{ principal: { type: 'service' } }, call, false],
    [{ principal: { id: ['bob', 'a*'] } }, call, true],
    [{ principal: { id: 'bob' } }, call, false],
    [{ principal: { id: '*' } }, { ...call, context: {} }, false],
    [{ principal: { type: 'anonymous' } }, { ...call, context: undefined }, true],
    [{ protocol: { min: '2026-07-28' } }, call, true],
    [{ protocol: { max: '2026-07-28' } }, call, true],
    [{ protocol: { max: '2025-11-25' } }, call, false],
    [{ protocol: { min: '2026-07-29' } }, call, false],
    [{ protocol: { min: '2099-01-01' } }, { ...call, protocolVersion: undefined }, true],
    [{ name: 'pay_*', principal: { id: 'bob' } }, call, false],
  ])('of %j for %j: %s', async (when, params, applies) => {
    const both = [...hooks('*'), { events: ['*'], phase: 'response' as const }];
    for (const options of [{ traits: { when } }, { overrides: { when } }]) {
      const { status, skipped } = await run([validator('v', deny, { ...options, hooks: both })], params);
      expect(status).toBe(applies ? 'validation_failed' : 'success');
      expect(skipped).toEqual(applies ? [] : [{ interceptor: 'v', host: 'local', reason: 'when' }]);
    }
  });

  it.each([EVENT, 'my/event', 'constructor'])(
    'fails where it is not known what a result is of: %s',
    async event => {
      const hook = { events: ['*'], phase: 'response' as const };
      const entry = validator('v', pass, { hooks: [hook], traits: { when: { name: 'pay_*' } } });
      expect(await outcomes([entry], { ...result, event })).toEqual(['v: crash']);
    },
  );

  it.each([
    [() => true, 'pay_*', ['v: deny']],
    [() => true, 'get', []],
    [() => false, 'pay_*', []],
    [() => Promise.resolve(false), 'pay_*', []],
    [{ principal: { id: 'bob' } }, 'pay_*', []],
  ])('of an override holds beside the declared one: %s, %s', async (when, name, ran) => {
    const entry = validator('v', deny, { traits: { when }, overrides: { when: { name } } });
    expect(await outcomes([entry], call)).toEqual(ran);
  });

  it('is recorded where it kept an interceptor out, and routed by failOpen where it throws', async () => {
    const out = await run([validator('v', deny, { traits: { when: () => false } })]);
    expect(out.skipped).toEqual([{ interceptor: 'v', host: 'local', reason: 'when' }]);
    const broken = { traits: { when: () => Promise.reject(new Error('x')) }, failOpen: true };
    expect((await run([validator('v', deny, broken)])).status).toBe('success');
  });
});

describe('a final validator', () => {
  const counted = () => {
    const seen: unknown[] = [];
    return { seen, validate: ({ payload }: { payload: unknown }) => (seen.push(payload), { valid: true }) };
  };

  it.each([
    [true, 'receive', true, [{}, { trail: ['m'] }]],
    [true, 'receive', false, [{}]],
    [true, 'send', true, [{ trail: ['m'] }]],
    ['only', 'receive', true, [{ trail: ['m'] }]],
    ['only', 'receive', false, [{}]],
    ['only', 'send', true, [{ trail: ['m'] }]],
  ] as const)('%s, %s, mutated %s sees %j', async (final, direction, mutated, expected) => {
    const { seen, validate } = counted();
    const entries = [validator('v', validate, { traits: { final } }), ...(mutated ? [mutator('m')] : [])];
    await run(entries, { direction });
    expect(seen).toEqual(expected);
  });

  it('blocks what a mutation brought in', async () => {
    const guard = validator('v', ({ payload }) => ({ valid: !JSON.stringify(payload).includes('evil') }), {
      traits: { final: true },
    });
    const result = await run([guard, mutator('m', append('evil'))]);
    expect(result).toMatchObject({ status: 'validation_failed', abortedAt: { interceptor: 'v' } });
    expect(result.results.map(({ interceptor, final }) => [interceptor, final])).toEqual([
      ['v', undefined],
      ['m', undefined],
      ['v', true],
    ]);
  });
});

describe('the scope of a mutator', () => {
  const payload = { name: 'search', uri: 'a://b', arguments: { q: 'x', limit: 5 } };
  const edit = (change: object) => () => ({ modified: true, payload: { ...payload, ...change } });

  it.each([
    ['the name, by default', edit({ name: 'other' }), {}, 'mutation_failed'],
    ['the uri, by default', edit({ uri: 'c://d' }), {}, 'mutation_failed'],
    ['the name, where allowed', edit({ name: 'other' }), { allow: ['/name'] }, 'success'],
    ['an argument, by default', edit({ arguments: { q: 'y', limit: 5 } }), {}, 'success'],
    [
      'an allowed argument',
      edit({ arguments: { q: 'y', limit: 5 } }),
      { allow: ['/arguments/q'] },
      'success',
    ],
    [
      'another than the allowed',
      edit({ arguments: { q: 'x', limit: 6 } }),
      { allow: ['/arguments/q'] },
      'mutation_failed',
    ],
    [
      'a denied argument',
      edit({ arguments: { q: 'y', limit: 5 } }),
      { deny: ['/arguments/q'] },
      'mutation_failed',
    ],
    ['what is above a denied one', edit({ arguments: 1 }), { deny: ['/arguments/q'] }, 'mutation_failed'],
    ['a new member', edit({ extra: 1 }), { allow: ['/arguments'] }, 'mutation_failed'],
  ])('changing %s', async (_what, behaviour, scope, status) => {
    expect((await run([mutator('m', behaviour, { traits: { scope } })], { payload })).status).toBe(status);
  });

  it('may drop a breach instead, and report it', async () => {
    const scope = { deny: ['/arguments'], onBreach: 'drop' as const };
    const result = await run([mutator('m', edit({ arguments: {} }), { traits: { scope } })], { payload });
    expect(result.status).toBe('success');
    expect(result.finalPayload).toBe(payload);
    expect(result.results).toMatchObject([
      { outcome: 'dropped', error: expect.stringContaining('/arguments') as string },
    ]);
  });

  it('leaves the name of a result alone: that is no identity', async () => {
    const result = await run([mutator('m', edit({ name: 'other' }))], { payload, phase: 'response' });
    expect(result.status).toBe('success');
  });
});

it('a mutation that makes no payload for its event is a failure of the mutator', async () => {
  const checkPayload = (payload: unknown) => ('name' in (payload as object) ? undefined : 'no name');
  const result = await run([mutator('m', () => ({ modified: true, payload: {} }))], {
    checkPayload,
    payload: { name: 'a' },
  });
  expect(result).toMatchObject({ status: 'mutation_failed', results: [{ outcome: 'crash' }] });
});

describe('a simulation', () => {
  it('runs only what has no side effects, and tells what each mutator would change', async () => {
    const none = { traits: { sideEffects: 'none' as const } };
    const entries = [mutator('pure', append('x'), none), mutator('acts'), validator('v', deny, none)];
    const result = await run(entries, { simulate: true, direction: 'send' });
    expect(result.skipped).toEqual([{ interceptor: 'acts', host: 'local', reason: 'side-effects' }]);
    expect(result.results).toMatchObject([
      { interceptor: 'pure', diff: [{ op: 'add', path: '/trail', value: ['x'] }] },
      { interceptor: 'v', outcome: 'deny' },
    ]);
    expect(result.status).toBe('validation_failed');
  });
});

it('an audit mutator tells what it would have changed as a JSON Patch', async () => {
  const result = await run([mutator('m', append('x'), { mode: 'audit' }), mutator('n')]);
  expect(result.results[0]).toMatchObject({
    mode: 'audit',
    diff: [{ op: 'add', path: '/trail', value: ['x'] }],
  });
  expect(trailOf(result)).toEqual(['n']);
});
