import fc from 'fast-check';
import { respondWith } from '../../../lib/interceptors/authoring.js';
import { Chain } from '../../../lib/interceptors/chain/chain.js';
import type { ChainEntry } from '../../../lib/interceptors/chain/entry.js';
import type { ChainOptions } from '../../../lib/interceptors/chain/params.js';
import type { Invocation } from '../../../lib/interceptors/chain/result.js';
import { EVENT, ManualClock, crash, deny, hang, mutator, pass, run, sink, validator, warn } from './stubs.js';

describe('what an interceptor is given', () => {
  const vandal = ({ payload }: Invocation) => {
    (payload as { a: { b: number } }).a.b = 2;
    return { valid: true, modified: false };
  };

  it.each([
    ['a validator', [validator('v', vandal)], 'validation_failed'],
    ['an audit validator', [validator('v', vandal, { mode: 'audit' })], 'success'],
    ['a mutator', [mutator('m', vandal)], 'mutation_failed'],
    ['a mutator that fails open', [mutator('m', vandal, { failOpen: true })], 'success'],
    ['an audit mutator', [mutator('m', vandal, { mode: 'audit' })], 'success'],
    ['a sink', [sink('s', vandal)], 'success'],
  ])('cannot be changed by %s', async (_what, entries: ChainEntry[], status) => {
    const payload = { a: { b: 1 } };
    const result = await run(entries, { payload, request: payload });
    expect(result.status).toBe(status);
    expect(payload).toEqual({ a: { b: 1 } });
    expect(Object.isFrozen(payload)).toBe(false);
  });

  it('is its own, even where a mutator keeps what it returned', async () => {
    const kept = { a: [1] };
    const entries = [
      mutator('1', () => ({ modified: true, payload: kept })),
      mutator('2', () => (kept.a.push(2), { modified: false })),
    ];
    expect((await run(entries)).finalPayload).toEqual({ a: [1] });
    expect(Object.isFrozen(kept)).toBe(false);
  });

  it.each([false, true])('cannot be changed in its context, either, frozen on top: %s', async isFrozen => {
    const context = { principal: { type: 'user' as const, id: 'ada', claims: { roles: ['guest'] } } };
    if (isFrozen) Object.freeze(context);
    const vandalise = (invocation: Invocation) => {
      (invocation.context!.principal!.claims!['roles'] as string[]).push('admin');
      return { valid: true };
    };
    expect((await run([validator('v', vandalise)], { context })).status).toBe('validation_failed');
    expect(context.principal.claims.roles).toEqual(['guest']);
  });

  it.each([
    ['an override', (config: object) => ({ overrides: { config: { ...config } } }), {}],
    ['the run', () => ({}), { config: { v: { roles: ['guest'] } } }],
  ])('cannot be changed in its configuration by %s, either', async (_by, optionsOf, params) => {
    const roles = ['guest'];
    const seen: unknown[] = [];
    const vandalise = ({ config }: Invocation) => {
      seen.push(structuredClone(config));
      (config!['roles'] as string[]).push('admin');
      return { valid: true };
    };
    const entries = [validator('v', vandalise, { mode: 'audit', ...optionsOf({ roles }) })];
    const chain = new Chain(entries);
    const message = { event: EVENT, phase: 'request', direction: 'receive', payload: {}, ...params } as const;
    for (let call = 0; call < 2; call++) {
      expect((await chain.execute(message)).results).toMatchObject([{ outcome: 'crash' }]);
    }
    expect(seen).toEqual([{ roles: ['guest'] }, { roles: ['guest'] }]);
    expect(roles).toEqual(['guest']);
  });

  it('is, in a configuration, what is no plain data, as it is', async () => {
    const seen: unknown[] = [];
    const config = { allow: /x/, home: new URL('http://a.example/') };
    const entry = validator('v', invocation => (seen.push(invocation.config), { valid: true }), {
      overrides: { config },
    });
    await run([entry]);
    await run([entry], { config: { v: config } });
    for (const one of seen) {
      expect((one as typeof config).allow).toBe(config.allow);
      expect((one as typeof config).home).toBe(config.home);
    }
    expect(seen).toHaveLength(2);
  });

  it('fails where the configuration of the run contains itself', async () => {
    const config: Record<string, unknown> = {};
    config['self'] = config;
    const params = { config: { v: config } };
    expect((await run([validator('v')], params)).results).toMatchObject([{ outcome: 'crash' }]);
    expect((await run([validator('w')], params)).status).toBe('success');
  });

  it('can be changed again once it is the final payload', async () => {
    const { finalPayload } = await run([mutator('m')]);
    (finalPayload as { trail: string[] }).trail.push('mine');
    expect(finalPayload).toEqual({ trail: ['m', 'mine'] });
  });

  it('keeps a member called __proto__ a member', async () => {
    const payload = JSON.parse('{"__proto__": {"polluted": true}}') as object;
    const { finalPayload } = await run([mutator('m')], { payload });
    expect(Object.keys(finalPayload as object)).toEqual(['__proto__', 'trail']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('holds the request in the response phase, and a bag that all share', async () => {
    const bag = new Map<unknown, unknown>();
    const seen: unknown[] = [];
    const entry = validator('v', invocation => {
      seen.push(invocation.request);
      invocation.bag.set('seen', true);
      return { valid: true };
    });
    await run([entry], { phase: 'response', request: { name: 'a' }, bag });
    expect(seen).toEqual([{ name: 'a' }]);
    expect(bag.get('seen')).toBe(true);
  });
});

describe('time', () => {
  const start = (entries: readonly ChainEntry[], params: object = {}, options: object = {}) => {
    const clock = new ManualClock();
    const chain = new Chain(entries, { clock, ...options });
    const result = chain.execute({
      event: EVENT,
      phase: 'request',
      direction: 'receive',
      payload: {},
      ...params,
    });
    return { clock, result };
  };

  it.each([
    ['the default', {}, {}, 1000],
    ['the entry’s own', { traits: { timeoutMs: 300 } }, {}, 300],
    ['the override’s', { traits: { timeoutMs: 300 }, overrides: { timeoutMs: 500 } }, {}, 500],
    ['never more than the cap', { overrides: { timeoutMs: 999_999 } }, { maxTimeoutMs: 700 }, 700],
  ])('an interceptor has %s', async (_what, entryOptions, options, expected) => {
    let signal: AbortSignal | undefined;
    let timeoutMs: number | undefined;
    const entry = validator(
      'v',
      invocation => {
        ({ signal, timeoutMs } = invocation);
        return new Promise(() => undefined);
      },
      entryOptions,
    );
    const { clock, result } = start([entry], {}, options);
    expect(timeoutMs).toBe(expected);
    clock.advance(expected - 1);
    expect(signal?.aborted).toBe(false);
    clock.advance(1);
    expect(signal?.aborted).toBe(true);
    expect(await result).toMatchObject({ status: 'validation_failed', abortedAt: { type: 'timeout' } });
  });

  it('of the whole run bounds everything, even what fails open, and is handed down', async () => {
    let timeoutMs: number | undefined;
    const entry = validator(
      'v',
      invocation => ((timeoutMs = invocation.timeoutMs), new Promise(() => undefined)),
      { failOpen: true },
    );
    const { clock, result } = start([entry], { timeoutMs: 200 });
    clock.advance(200);
    expect(timeoutMs).toBe(200);
    expect(await result).toMatchObject({
      status: 'timeout',
      abortedAt: { interceptor: 'v', type: 'timeout' },
    });
  });

  it('of the whole run never blocks for the sake of an audit interceptor', async () => {
    const { clock, result } = start([validator('v', hang, { mode: 'audit' })], { timeoutMs: 200 });
    clock.advance(200);
    expect(await result).toMatchObject({
      status: 'success',
      results: [{ outcome: 'timeout', mode: 'audit' }],
    });
  });

  it.each([
    ['its own', { overrides: { timeoutMs: 50 }, failOpen: true }, {}, 50, 'success'],
    ['that of the whole run', { failOpen: true }, { timeoutMs: 200 }, 200, 'timeout'],
  ])('cannot be lifted by the interceptor: %s', async (_what, options, params, ms, status) => {
    const lift = (invocation: Invocation) => {
      (invocation as { timeoutMs: number }).timeoutMs = Infinity;
      return hang(invocation);
    };
    const { clock, result } = start([validator('v', lift, options)], params);
    clock.advance(ms);
    expect(await result).toMatchObject({
      status,
      results: [{ outcome: 'timeout', error: `it took longer than ${ms} ms` }],
    });
  });

  it('of the whole run is up as such, whatever moment it began at', async () => {
    for (let step = 1; step <= 200; step++) {
      const clock = new ManualClock();
      clock.advance(step / 7);
      const late = mutator('late', () => (clock.advance(step / 11), { modified: false }));
      const chain = new Chain([late, mutator('z', hang, { failOpen: true })], {
        clock,
        defaultTimeoutMs: 30_000,
      });
      const result = chain.execute({ ...message({}), timeoutMs: 100 });
      for (const ms of [100, 1]) clock.advance(ms);
      expect((await result).status).toBe('timeout');
    }
  });

  it('ends at once where the interceptor itself made the caller give up', async () => {
    const caller = new AbortController();
    const entry = validator('v', invocation => (caller.abort(), hang(invocation)));
    const { result } = start([entry], { signal: caller.signal });
    expect(await result).toMatchObject({ status: 'timeout', results: [{ error: 'the run was given up' }] });
  });

  it.each([
    ['mutator', mutator],
    ['validator', validator],
  ])(
    'ends for a %s after an interceptor that made the caller give up, and waited for nothing',
    async (_what, make) => {
      const caller = new AbortController();
      const invoke = jest.fn(pass);
      const first = mutator('1', () => (caller.abort(), { modified: false }));
      const result = await new Chain([first, make('2', invoke)]).execute({
        ...message({}),
        direction: 'send',
        signal: caller.signal,
      });
      expect(result).toMatchObject({ status: 'timeout', abortedAt: { interceptor: '2' } });
      expect(invoke).not.toHaveBeenCalled();
    },
  );

  it('passes with the timers of a test, where those are not the real ones', async () => {
    jest.useFakeTimers();
    try {
      const result = new Chain([validator('v', hang)]).execute(message({}));
      await jest.advanceTimersByTimeAsync(1000);
      expect((await result).results[0].outcome).toBe('timeout');
    } finally {
      jest.useRealTimers();
    }
  });

  it('that is up while a condition is awaited leaves the interceptor uncalled', async () => {
    let apply: (applies: boolean) => void = () => undefined;
    const when = () => new Promise<boolean>(resolve => (apply = resolve));
    const invoke = jest.fn(pass);
    const { clock, result } = start([validator('v', invoke, { traits: { when } })]);
    clock.advance(1000);
    expect((await result).results[0].outcome).toBe('timeout');
    apply(true);
    await new Promise(setImmediate);
    expect(invoke).not.toHaveBeenCalled();
  });

  it('is not given to interceptors that come after it is up', async () => {
    const clock = new ManualClock();
    const slow = mutator('slow', () => (clock.advance(500), { modified: false }));
    const chain = new Chain([slow, mutator('z')], { clock });
    const result = await chain.execute({
      event: EVENT,
      phase: 'request',
      direction: 'send',
      payload: {},
      timeoutMs: 400,
    });
    expect(result).toMatchObject({ status: 'timeout', abortedAt: { interceptor: 'z' } });
  });

  it('ends when the caller gives up, and the interceptor is told', async () => {
    let signal: AbortSignal | undefined;
    const caller = new AbortController();
    const entry = mutator('m', invocation => (({ signal } = invocation), new Promise(() => undefined)));
    const { result } = start([entry], { signal: caller.signal });
    await new Promise(setImmediate);
    caller.abort();
    expect(await result).toMatchObject({ status: 'timeout' });
    expect(signal?.aborted).toBe(true);
  });

  it('does not matter to a rejection that comes late', async () => {
    let reject: (error: Error) => void = () => undefined;
    const entry = validator('v', () => new Promise((_, fail) => (reject = fail)), { failOpen: true });
    const { clock, result } = start([entry]);
    clock.advance(1000);
    expect((await result).status).toBe('success');
    reject(new Error('late'));
    await new Promise(setImmediate);
  });
});

const BEHAVIOURS = {
  pass,
  deny,
  warn,
  crash,
  hang,
  nonsense: () => 'x',
  change: () => ({ modified: true, payload: { b: 2 } }),
};
const behaviour = fc.constantFrom(...(Object.keys(BEHAVIOURS) as (keyof typeof BEHAVIOURS)[]));
const stubOf = (make: typeof validator, mode?: 'audit') =>
  fc
    .record({ name: fc.string({ minLength: 1, maxLength: 4 }), behaviour, failOpen: fc.boolean() })
    .map(({ name, behaviour, failOpen }) =>
      make(name, BEHAVIOURS[behaviour], { failOpen, ...(mode && { mode }) }),
    );
const active = fc.array(fc.oneof(stubOf(validator), stubOf(mutator)), { maxLength: 4 });
const audit = fc.array(fc.oneof(stubOf(validator, 'audit'), stubOf(mutator, 'audit')), {
  minLength: 1,
  maxLength: 4,
});
const direction = fc.constantFrom('send' as const, 'receive' as const);

it('audit interceptors never change the outcome or the payload', async () => {
  await fc.assert(
    fc.asyncProperty(active, audit, direction, async (entries, audits, direction) => {
      const payload = { a: 1 };
      const without = await run(entries, { direction, payload });
      const withAudit = await run([...audits, ...entries], { direction, payload });
      expect(withAudit.status).toBe(without.status);
      expect(withAudit.finalPayload).toEqual(without.finalPayload);
      expect(withAudit.abortedAt?.interceptor).toBe(without.abortedAt?.interceptor);
    }),
    { numRuns: 60 },
  );
});

it('a chain that fails, or changes nothing, leaves the original payload, by identity', async () => {
  await fc.assert(
    fc.asyncProperty(active, direction, async (entries, direction) => {
      const payload = { a: { b: [1] } };
      const result = await run(entries, { direction, payload });
      expect(payload).toEqual({ a: { b: [1] } });
      const changed = result.results.some(({ outcome, mode }) => outcome === 'mutated' && mode === undefined);
      if (result.status !== 'success') expect('finalPayload' in result).toBe(false);
      else if (!changed) expect(result.finalPayload).toBe(payload);
    }),
    { numRuns: 60 },
  );
});

type Then = (resolve: (value: unknown) => void) => void;
const thenableOf = (then: Then) => () => ({ then });
const promiseOf = (then: Then) => () => Object.assign(Promise.resolve(), { then });

describe('what an interceptor says', () => {
  const nameless = Object.create(null) as Error;
  const circle = () => {
    const payload: Record<string, unknown> = {};
    payload['self'] = payload;
    return { modified: true, payload };
  };
  const throwNameless = () => {
    throw nameless;
  };
  const rejectNameless = () => Promise.reject(nameless);
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const deep = JSON.parse('{"a":'.repeat(1500) + '1' + '}'.repeat(1500)) as object;
  const unreadable = {
    get secret(): string {
      throw new Error('no');
    },
  };
  class Wordless {
    toJSON() {
      return undefined;
    }
  }
  const raise = (message: string) => {
    throw new Error(message);
  };
  const forged = () => ({
    ...respondWith({}),
    get result(): object {
      return raise('no');
    },
  });
  const unaskable = () => new Proxy({ modified: false }, { has: () => raise('no') });
  const told = (info: object) => () => ({ valid: true, modified: false, info });
  const suggesting = (value: object) => () => ({ valid: false, suggestions: [{ path: 'a', value }] });

  it.each([
    ['an error that cannot be told', validator('x', throwNameless), validator],
    ['a rejection that cannot be told', validator('x', rejectNameless), validator],
    ['an error that cannot be told', mutator('x', throwNameless), mutator],
    ['a rejection that cannot be told', mutator('x', rejectNameless), mutator],
    ['a payload that contains itself', mutator('x', circle), mutator],
    ['info that contains itself', mutator('x', told(cyclic)), mutator],
    ['info that contains itself', validator('x', told(cyclic)), validator],
    [
      'a payload that JSON has no words for',
      mutator('x', () => ({ modified: true, payload: new Wordless() })),
      mutator,
    ],
    ['an answer that is none', mutator('x', () => respondWith(null as never)), mutator],
    ['an answer that is a list', mutator('x', () => respondWith([])), mutator],
    ['an answer that contains itself', mutator('x', () => respondWith(cyclic)), mutator],
    ['a forged answer', mutator('x', forged), mutator],
    ['a forged answer that comes later', mutator('x', () => Promise.resolve(forged())), mutator],
    ['what does not say whether it is an answer', mutator('x', unaskable), mutator],
    [
      'a thenable that throws',
      validator(
        'x',
        thenableOf(() => raise('no')),
      ),
      validator,
    ],
    [
      'a promise with a `then` that throws',
      validator(
        'x',
        promiseOf(() => raise('no')),
      ),
      validator,
    ],
    [
      'a thenable of a rejection',
      validator(
        'x',
        thenableOf(resolve => resolve(Promise.reject(new Error('no')))),
      ),
      validator,
    ],
    ['info nested without end', validator('x', told(deep)), validator],
    ['info that cannot be read', mutator('x', told(unreadable)), mutator],
    ['a suggestion that contains itself', validator('x', suggesting(cyclic)), validator],
    ['a suggestion nested without end', validator('x', suggesting(deep)), validator],
  ])('may be %s: a crash, routed like any other', async (_what, { invoke }, make) => {
    const strict = make === mutator ? 'mutation_failed' : 'validation_failed';
    expect((await run([make('x', invoke)])).status).toBe(strict);
    for (const options of [{ failOpen: true }, { mode: 'audit' as const }]) {
      const { status, results } = await run([make('x', invoke, options)]);
      expect([status, results[0].outcome]).toEqual(['success', 'crash']);
    }
  });

  it('is checked as it goes on', async () => {
    let reads = 0;
    const payload = {
      get title() {
        return reads++ === 0 ? 'a' : undefined;
      },
    };
    const checkPayload = (checked: unknown) =>
      (checked as typeof payload).title === 'a' ? undefined : 'untitled';
    const change = () => ({ modified: true, payload });
    expect((await run([mutator('m', change)], { checkPayload })).finalPayload).toEqual({ title: 'a' });
    expect(await run([mutator('m', change)], { checkPayload })).toMatchObject({
      status: 'mutation_failed',
      results: [{ error: expect.stringContaining('untitled') as string }],
    });
  });

  it('is kept as it was said', async () => {
    const info = { n: 1 };
    const suggestions = [{ path: 'a', value: { n: 1 } }];
    const { results } = await run([
      validator('v', () => ({ valid: true, info, suggestions })),
      mutator('m', () => ({ modified: false, info })),
    ]);
    info.n = suggestions[0].value.n = 2;
    expect(results).toMatchObject([
      { info: { n: 1 }, suggestions: [{ value: { n: 1 } }] },
      { info: { n: 1 } },
    ]);
  });

  it('may be as deep as a payload, and still be reported', async () => {
    const reported = jest.fn();
    const limit = JSON.parse('{"a":'.repeat(1000) + '1' + '}'.repeat(1000)) as object;
    const change = () => ({ modified: true, payload: limit, info: limit });
    const result = await run([mutator('m', change, { mode: 'audit' }), sink('s', reported)]);
    expect(result).toMatchObject({ status: 'success', results: [{ outcome: 'mutated' }] });
    expect(reported).toHaveBeenCalledTimes(1);
  });
});

describe('what comes as an instance of a class', () => {
  class Amount {
    constructor(
      public value: number,
      readonly currency: string,
    ) {}
  }
  class Money {
    constructor(readonly amount: Amount) {}
    toJSON() {
      return { amount: `${this.amount.value} ${this.amount.currency}` };
    }
  }

  it('cannot be changed by an interceptor, and goes on as it is where nothing changed', async () => {
    const payload = { total: new Amount(5, 'EUR') };
    const vandalise = ({ payload: seen }: Invocation) => {
      (seen as typeof payload).total.value = 0;
      return { modified: false };
    };
    const { finalPayload, results } = await run([mutator('m', vandalise, { mode: 'audit' })], { payload });
    expect(results[0].outcome).toBe('crash');
    expect(finalPayload).toBe(payload);
    expect(payload.total).toEqual(new Amount(5, 'EUR'));
  });

  it('is seen as JSON sees it', async () => {
    const seen: unknown[] = [];
    const payload = { total: new Amount(5, 'EUR'), price: new Money(new Amount(1, 'GBP')), at: new Date(0) };
    await run([validator('v', invocation => (seen.push(invocation.payload), { valid: true }))], { payload });
    expect(seen).toEqual([
      { total: { value: 5, currency: 'EUR' }, price: { amount: '1 GBP' }, at: new Date(0) },
    ]);
  });
});

describe('what settles later', () => {
  const unhandled = jest.fn();
  beforeAll(() => process.on('unhandledRejection', unhandled));
  afterAll(() => process.off('unhandledRejection', unhandled));

  it('can be a thenable, and is waited for to its end', async () => {
    const changes = thenableOf(resolve => resolve(Promise.resolve({ modified: true, payload: { a: 1 } })));
    expect((await run([mutator('m', changes)])).finalPayload).toEqual({ a: 1 });
  });

  it('can be a condition that is a thenable, and what is asked after it may fail', async () => {
    const when = thenableOf(resolve => resolve(true)) as unknown as () => Promise<boolean>;
    const { results } = await run([validator('v', crash, { traits: { when } })]);
    expect(results[0]).toMatchObject({ outcome: 'crash', error: 'secret detail' });
    await new Promise(setImmediate);
    expect(unhandled).not.toHaveBeenCalled();
  });

  it.each([
    ['itself', thenableOf],
    ['as a method of a promise', promiseOf],
  ])('with a `then` that throws leaves no timer and no listener: %s', async (_what, make) => {
    const clock = new ManualClock();
    const stop = jest.fn();
    const after = jest.spyOn(clock, 'after').mockReturnValue(stop);
    const { signal } = new AbortController();
    const added = jest.spyOn(signal, 'addEventListener');
    const removed = jest.spyOn(signal, 'removeEventListener');
    const throwing = make(() => {
      throw new Error('no');
    });
    await new Chain([validator('v', throwing)], { clock }).execute({ ...message({}), signal });
    expect(stop.mock.calls).toHaveLength(after.mock.calls.length);
    expect(removed.mock.calls).toHaveLength(added.mock.calls.length);
  });

  it('may be an audit interceptor’s, and unreadable, before the run has ended', async () => {
    const unreadable = () => Promise.resolve(new Proxy({}, { has: () => raiseLate() }));
    const raiseLate = (): never => {
      throw new Error('no');
    };
    const slow = mutator('slow', () => new Promise(resolve => setImmediate(resolve, { modified: false })));
    const result = await run([mutator('a', unreadable, { mode: 'audit' }), slow]);
    expect(result).toMatchObject({
      status: 'success',
      results: [{ outcome: 'crash' }, { outcome: 'unmodified' }],
    });
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('may be a sink’s, whose failure is told to somebody who fails', async () => {
    const told = jest.fn((_name: string): void => {
      throw new Error('no');
    });
    const observeSink: ChainOptions['observeSink'] =
      ({ name }) =>
      () =>
        told(name);
    const clock = new ManualClock();
    const entries = [sink('a', crash), sink('b', hang)];
    await new Chain(entries, { clock, observeSink }).execute(message({}));
    await new Promise(setImmediate);
    // The other one still has its time, and no more than that.
    clock.advance(1000);
    await new Promise(setImmediate);
    expect(told.mock.calls).toEqual([['a'], ['b']]);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

it.each([
  ['a mutator', [mutator('1'), mutator('2', crash)], 'receive'],
  ['a validator', [mutator('1'), validator('2', deny)], 'send'],
] as const)('sinks see what %s stopped as it came', async (_what, entries, direction) => {
  const seen: unknown[] = [];
  const record = sink('s', ({ payload }) => void seen.push(payload));
  await run([...entries, record], { direction, payload: { a: 1 } });
  expect(seen).toEqual([{ a: 1 }]);
});

it.each(['toString', '__proto__', 'constructor'])(
  'an interceptor called %s has no configuration by that',
  async name => {
    const seen: unknown[] = [];
    await run([validator(name, ({ config }) => (seen.push(config), { valid: true }))], { config: {} });
    expect(seen).toEqual([undefined]);
  },
);

it('a sink can change nothing of what was decided', async () => {
  const outcomes: string[] = [];
  const rewrite = ({ payload }: Invocation) => {
    (payload as { text: string }).text = 'mine';
  };
  const undeny = ({ report }: Invocation) => {
    (report as { status: string }).status = 'success';
  };
  const observeSink: ChainOptions['observeSink'] =
    () =>
    ({ outcome }) =>
      void outcomes.push(outcome);
  const options = { observeSink };
  const passed = await new Chain([sink('s', rewrite)], options).execute(message({ text: 'theirs' }));
  expect(passed.finalPayload).toEqual({ text: 'theirs' });
  const denied = await new Chain([validator('v', deny), sink('s', undeny)], options).execute(message({}));
  expect(denied.status).toBe('validation_failed');
  await new Promise(setImmediate);
  expect(outcomes).toEqual(['crash', 'crash']);
});

const message = (payload: object) =>
  ({ event: EVENT, phase: 'request', direction: 'receive', payload }) as const;

describe('an audit interceptor that takes its time', () => {
  const start = (entries: ChainEntry[], timeoutMs: number) => {
    const clock = new ManualClock();
    const chain = new Chain(entries, { clock });
    return { clock, done: chain.execute({ ...message({}), timeoutMs }) };
  };

  it('takes none of the time of those that decide', async () => {
    const asked: string[] = [];
    const entries = [
      mutator('a', hang, { mode: 'audit' }),
      mutator('b', hang, { mode: 'audit' }),
      mutator(
        'z',
        ({ payload }) => (asked.push('z'), { modified: true, payload: { ...(payload as object), z: 1 } }),
      ),
    ];
    const { clock, done } = start(entries, 1500);
    // Asked before any time has passed.
    await Promise.resolve();
    expect(asked).toEqual(['z']);
    clock.advance(1000);
    const { status, results } = await done;
    expect(status).toBe('success');
    expect(results.map(({ interceptor, outcome }) => `${interceptor} ${outcome}`)).toEqual([
      'a timeout',
      'b timeout',
      'z mutated',
    ]);
  });

  it('does not make a run that is over of a validator that failed open in time', async () => {
    const entries = [
      validator('quick', hang, { failOpen: true, overrides: { timeoutMs: 50 } }),
      validator('slow', hang, { mode: 'audit', overrides: { timeoutMs: 5000 } }),
    ];
    const { clock, done } = start(entries, 100);
    clock.advance(50);
    await new Promise(setImmediate);
    clock.advance(50);
    const { status, results } = await done;
    expect(status).toBe('success');
    expect(results[0]).toMatchObject({ outcome: 'timeout', failedOpen: true });
    expect(results[1]).toMatchObject({ outcome: 'timeout', mode: 'audit' });
  });
});
