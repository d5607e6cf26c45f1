import fc from 'fast-check';
import { Chain } from '../../../lib/interceptors/chain/chain.js';
import type { ChainEntry, Invocation } from '../../../lib/interceptors/chain/entry.js';
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

  it('cannot be changed in its context, either', async () => {
    const context = { principal: { type: 'user' as const, id: 'ada', claims: { roles: ['guest'] } } };
    const vandalise = (invocation: Invocation) => {
      (invocation.context!.principal!.claims!['roles'] as string[]).push('admin');
      return { valid: true };
    };
    expect((await run([validator('v', vandalise)], { context })).status).toBe('validation_failed');
    expect(context.principal.claims.roles).toEqual(['guest']);
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

it('a sink can change nothing of what was decided', async () => {
  const errors: string[] = [];
  const rewrite = ({ report }: Invocation) => {
    (report!.finalPayload as { text: string }).text = 'mine';
  };
  const undeny = ({ report }: Invocation) => {
    (report as { status: string }).status = 'success';
  };
  const options = { onSinkError: (_entry: unknown, error: string) => void errors.push(error) };
  const passed = await new Chain([sink('s', rewrite)], options).execute(message({ text: 'theirs' }));
  expect(passed.finalPayload).toEqual({ text: 'theirs' });
  const denied = await new Chain([validator('v', deny), sink('s', undeny)], options).execute(message({}));
  expect(denied.status).toBe('validation_failed');
  await new Promise(setImmediate);
  expect(errors).toHaveLength(2);
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
