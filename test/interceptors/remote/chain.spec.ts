import type { ChainParams } from 'nestjs-mcp';
import { DiscoveryError, InterceptorChain } from 'nestjs-mcp/interceptors';
import type { DiscoverOptions } from 'nestjs-mcp/interceptors';
import { deferred } from '../../fixtures/deferred.js';
import { mutator, StubHost, validator, type StubInterceptor } from './stub-host.js';

const MESSAGE: ChainParams = {
  event: 'tools/call',
  phase: 'request',
  direction: 'send',
  payload: { name: 'search' },
};

const marksOf = ({ finalPayload }: { finalPayload?: unknown }) =>
  (finalPayload as { marks?: string[] }).marks ?? [];

const hosts: StubHost[] = [];
const host = (name: string, ...interceptors: StubInterceptor[]) => {
  const stub = new StubHost(name, interceptors);
  hosts.push(stub);
  return stub;
};
const chainOf = (stubs: StubHost[], options?: DiscoverOptions) =>
  InterceptorChain.discover(
    stubs.map(stub => stub.with()),
    options,
  );

describe('one chain over many hosts', () => {
  it('sorts the mutators of all hosts as one list, not host by host', async () => {
    const one = host('one', mutator('late', { priorityHint: 1000 }), mutator('b'));
    const two = host('two', mutator('early', { priorityHint: -1000 }), mutator('a'));
    const result = await (await chainOf([one, two])).execute(MESSAGE);
    expect(marksOf(result)).toEqual(['early', 'a', 'b', 'late']);
    expect(result.results.map(({ host: where, interceptor }) => `${where}/${interceptor}`)).toEqual([
      'two/early',
      'two/a',
      'one/b',
      'one/late',
    ]);
  });

  it('runs two of one name each on its own host, in the order of the hosts', async () => {
    const one = host('one', mutator('same', {}, 'one'));
    const two = host('two', mutator('same', {}, 'two'));
    expect(marksOf(await (await chainOf([two, one])).execute(MESSAGE))).toEqual(['two', 'one']);
  });

  it.each([
    [['same'], ['one', 'two']],
    [['two/same'], ['two']],
    [
      ['other', 'one/same'],
      ['other', 'one'],
    ],
  ])('selects by name, and by host/name: %j', async (interceptors, marks) => {
    const chain = await chainOf([
      host('one', mutator('same', {}, 'one')),
      host('two', mutator('same', {}, 'two'), mutator('other')),
    ]);
    expect(marksOf(await chain.execute({ ...MESSAGE, interceptors })).sort()).toEqual(marks.sort());
  });

  it('runs the validators of all hosts as one batch, after all mutations when sending', async () => {
    const seen: unknown[] = [];
    const all = deferred<void>();
    const waits = (name: string) =>
      validator(name, async ({ payload }) => {
        seen.push(marksOf({ finalPayload: payload }));
        // Each passes only once the others have been asked as well.
        if (seen.length === 3) all.resolve();
        await all.promise;
        return { valid: true };
      });
    const one = host('one', waits('v1'), mutator('m'));
    const two = host('two', waits('v2'), waits('v3'));
    expect((await (await chainOf([one, two])).execute(MESSAGE)).status).toBe('success');
    expect(seen).toEqual([['m'], ['m'], ['m']]);
  });

  it('denies, and says which host', async () => {
    const denies = validator('v', () => ({ valid: false, messages: [{ message: 'No', severity: 'error' }] }));
    const result = await (await chainOf([host('one', validator('v')), host('two', denies)])).execute(MESSAGE);
    expect(result).toMatchObject({
      status: 'validation_failed',
      abortedAt: { host: 'two', interceptor: 'v', reason: 'No' },
    });
  });

  it('hands a host what the rules say, and the time that is left', async () => {
    const one = host('one', validator('v'));
    await (
      await chainOf([one])
    ).execute({
      ...MESSAGE,
      timeoutMs: 400,
      config: { v: { strict: true } },
      context: { principal: { type: 'user', id: 'ada' }, traceId: 'a'.repeat(32) },
    });
    const [{ timeoutMs, ...params }] = one.invoked;
    expect(params).toEqual({
      name: 'v',
      event: 'tools/call',
      phase: 'request',
      payload: { name: 'search' },
      config: { strict: true },
      context: { principal: { type: 'user', id: 'ada' }, traceId: 'a'.repeat(32) },
    });
    expect(timeoutMs).toBeGreaterThan(0);
    expect(timeoutMs).toBeLessThanOrEqual(400);
  });

  it('reads other implementations leniently: older spellings, nested results, unknown types', async () => {
    const warn = jest.fn();
    const old = host(
      'old',
      {
        descriptor: { name: 'm', type: 'mutation', hook: { events: ['tools/call'], phase: 'both' } },
        answer: () => ({ mutation: { modified: true, payload: { name: 'search', marks: ['nested'] } } }),
      },
      { descriptor: { name: 'x', type: 'quantum', hooks: [] }, answer: () => undefined },
    );
    const chain = await chainOf([old], { warn });
    expect(chain.entries.map(({ descriptor }) => descriptor.name)).toEqual(['m']);
    expect(marksOf(await chain.execute(MESSAGE))).toEqual(['nested']);
    expect(warn.mock.calls.flat()).toEqual([
      'An interceptor of "old" is skipped: its type "quantum" is unknown',
    ]);
  });

  it('warns once of a host whose interceptors are skipped, for each listing', async () => {
    const warn = jest.fn();
    const stubs = ['x', 'y', 'z'].map(name => ({
      descriptor: { name, type: 'quantum', hooks: [] },
      answer: () => undefined,
    }));
    await chainOf([host('old', ...stubs)], { warn });
    expect(warn.mock.calls.flat()).toEqual([
      'An interceptor of "old" is skipped: its type "quantum" is unknown; and 2 more',
    ]);
  });

  it('lets overrides decide, for a name or for one host’s interceptor alone', async () => {
    const denies = () => validator('v', () => ({ valid: false }));
    const stubs = [host('one', denies()), host('two', denies())];
    const all = await chainOf(stubs, { overrides: { v: { mode: 'audit' } } });
    expect((await all.execute(MESSAGE)).status).toBe('success');
    expect(all.entries.map(({ descriptor }) => descriptor.mode)).toEqual(['audit', 'audit']);
    const one = await chainOf(stubs, { overrides: { 'one/v': { mode: 'audit' } } });
    expect((await one.execute(MESSAGE)).abortedAt?.host).toBe('two');
    await expect(
      chainOf(stubs, { overrides: { v: { hooks: [{ events: ['prompts/get'], phase: 'request' }] } } }),
    ).rejects.toThrow(/can only narrow/);
    await expect(chainOf(stubs, { overrides: { v: { hooks: [] } } })).rejects.toThrow(
      /"overrides\.v\.hooks"/,
    );
  });

  it('asks no host that a condition keeps out', async () => {
    const stub = host('one', validator('v'));
    const chain = await chainOf([stub], { overrides: { 'one/v': { when: { name: 'pay_*' } } } });
    expect((await chain.execute(MESSAGE)).skipped).toMatchObject([{ host: 'one', reason: 'when' }]);
    expect(stub.invoked).toEqual([]);
    await chain.execute({ ...MESSAGE, payload: { name: 'pay_card' } });
    expect(stub.invoked).toHaveLength(1);
  });
});

describe('discovery', () => {
  it('lists all hosts at the same time, and all pages', async () => {
    const both = deferred<void>();
    let asked = 0;
    const stubs = ['one', 'two'].map(name => {
      const stub = host(name, mutator(`${name}-1`), mutator(`${name}-2`));
      stub.onList = async cursor => {
        if (++asked === 2) both.resolve();
        await both.promise;
        const [first, second] = stub.interceptors.map(({ descriptor }) => descriptor);
        return cursor ? { interceptors: [second] } : { interceptors: [first], nextCursor: 'next' };
      };
      return stub;
    });
    const chain = await chainOf(stubs);
    expect(chain.entries.map(({ host: where, descriptor }) => `${where}/${descriptor.name}`)).toEqual([
      'one/one-1',
      'one/one-2',
      'two/two-1',
      'two/two-2',
    ]);
    expect(stubs.map(({ lists }) => lists)).toEqual([2, 2]);
    await chain.execute(MESSAGE);
    expect(stubs.map(({ lists }) => lists)).toEqual([2, 2]);
  });

  const failures: [string, (stub: StubHost) => void, RegExp][] = [
    ['fails', stub => (stub.onList = () => Promise.reject(new Error('refused'))), /"two".*refused/],
    ['says nothing', stub => (stub.onList = () => undefined), /does not contain a list/],
    ['says something else', stub => (stub.onList = () => ({ tools: [] })), /does not contain a list/],
    [
      'advertises a name twice',
      stub => (stub.onList = () => ({ interceptors: [mutator('m').descriptor, mutator('m').descriptor] })),
      /"m" twice/,
    ],
    [
      'has pages that go round in a circle',
      stub => (stub.onList = () => ({ interceptors: [], nextCursor: 'again' })),
      /repeat a cursor/,
    ],
    [
      'has pages without end',
      stub => {
        let page = 0;
        stub.onList = () => ({ interceptors: [], nextCursor: `${++page}` });
      },
      /too many pages/,
    ],
    [
      'advertises too much',
      stub => (stub.onList = () => ({ interceptors: [1, 2, 3, 4].map(n => mutator(`m${n}`).descriptor) })),
      /more than 3/,
    ],
    ['hangs', stub => (stub.onList = () => new Promise(() => undefined)), /longer than 20 ms/],
    ...['name', 'version'].map(
      field =>
        [
          `advertises a ${field} that is too long`,
          (stub: StubHost) =>
            (stub.onList = () => ({ interceptors: [mutator('m', { [field]: 'x'.repeat(257) }).descriptor] })),
          /more than 256 characters/,
        ] as (typeof failures)[number],
    ),
    [
      'advertises more than can be kept, over several pages',
      stub => {
        let page = 0;
        const description = 'x'.repeat(2 * 1024 * 1024);
        stub.onList = () => ({
          interceptors: [mutator(`m${page}`, { description }).descriptor],
          nextCursor: `${++page}`,
        });
      },
      /its listing exceeds the limit "maxBytes" of 4194304/,
    ],
  ];

  it.each(failures)('fails closed where one host %s', async (_what, spoil, reason) => {
    const [one, two] = [host('one', mutator('a')), host('two', mutator('b'))];
    spoil(two);
    const policy = { maxInterceptors: 3, discoveryTimeoutMs: 20 };
    const failed = InterceptorChain.discover([one.with(), two.with(policy)]);
    await expect(failed).rejects.toThrow(DiscoveryError);
    await expect(failed).rejects.toThrow(reason);
    const skipping = await InterceptorChain.discover([
      one.with(),
      two.with({ ...policy, skipWhenUnlisted: true }),
    ]);
    expect(marksOf(await skipping.execute(MESSAGE))).toEqual(['a']);
  });

  it('keeps no more of a description than anybody reads', async () => {
    const { entries } = await chainOf([host('one', mutator('m', { description: 'x'.repeat(5000) }))]);
    expect(entries[0].descriptor.description).toHaveLength(4096);
  });

  it('compiles no configSchema that nothing is configured for', async () => {
    // One that does not even compile stands for many that would take long.
    const configSchema = { type: 'object', properties: { a: { type: 'string', pattern: '[' } } };
    const stub = host('one', mutator('m', { configSchema }));
    expect(marksOf(await (await chainOf([stub])).execute(MESSAGE))).toEqual(['m']);
    const given = { overrides: { m: { config: { a: 'b' } } } };
    await expect(chainOf([stub], given)).rejects.toThrow(/its configSchema cannot be used/);
  });

  it('checks a configuration by the configSchema that the host advertises at the time', async () => {
    const schemaFor = (type: string) => ({ type: 'object', properties: { limit: { type } } });
    const checkedBy = (type: string) =>
      chainOf([host('one', mutator('m', { configSchema: schemaFor(type) }))], {
        overrides: { m: { config: { limit: 1 } } },
      });
    await expect(checkedBy('string')).rejects.toThrow(/configuration of "m" is invalid: limit/);
    const chain = await checkedBy('number');
    expect((await chain.execute(MESSAGE)).status).toBe('success');
    const result = await chain.execute({ ...MESSAGE, config: { m: { limit: 'many' } } });
    expect(result).toMatchObject({ status: 'mutation_failed' });
    await expect(checkedBy('string')).rejects.toThrow(/is invalid/);
  });

  it('refuses two hosts of one name', async () => {
    await expect(chainOf([host('one'), host('one')])).rejects.toThrow(/same name/);
    await expect(chainOf([host('one/two')])).rejects.toThrow(/contains a "\/"/);
    await expect(chainOf([host('local')])).rejects.toThrow(/"local" is reserved/);
  });

  it('is bounded by the time of the whole run', async () => {
    const slow = host('slow', mutator('m'));
    slow.onList = () => new Promise(() => undefined);
    const result = await InterceptorChain.execute([slow.with()], { ...MESSAGE, timeoutMs: 20 });
    expect(result).toMatchObject({ status: 'timeout', abortedAt: { type: 'timeout' } });
    expect(result).not.toHaveProperty('finalPayload');
  });

  it('is given up with the caller', async () => {
    const slow = host('slow', mutator('m'));
    slow.onList = () => new Promise(() => undefined);
    const controller = new AbortController();
    const run = InterceptorChain.execute([slow.with()], { ...MESSAGE, signal: controller.signal });
    controller.abort(new Error('gone'));
    await expect(run).rejects.toThrow('gone');
  });

  it('and a run are one call of `execute`', async () => {
    const one = host('one', mutator('m'));
    expect(marksOf(await InterceptorChain.execute([one.with()], MESSAGE))).toEqual(['m']);
    expect([one.lists, one.invoked.length]).toEqual([1, 1]);
  });
});

describe('a host that is slow, dead or lying', () => {
  const deep = (depth: number): unknown => (depth === 0 ? 1 : { a: deep(depth - 1) });
  const answers: [string, StubInterceptor['answer'], RegExp][] = [
    ['throws', () => Promise.reject(new Error('broken pipe')), /broken pipe/],
    ['says nothing', () => undefined, /malformed/],
    ['says something else', () => ({ hello: 'world' }), /malformed/],
    ['says too much', () => ({ valid: true, info: { text: 'x'.repeat(20_000) } }), /exceeds maxBytes/],
    ['says it too deep', () => ({ valid: true, modified: false, info: deep(600) }), /exceeds maxDepth/],
    ['hangs', () => new Promise(() => undefined), /longer than 30 ms/],
    ...(['interceptor', 'phase'] as const).flatMap(field =>
      ['', 'validation', 'mutation'].map((nested): [string, StubInterceptor['answer'], RegExp] => {
        const wrong = { valid: true, modified: false, [field]: 'response' };
        return [
          `answers for another ${field} ${nested}`,
          () => (nested ? { [nested]: wrong } : wrong),
          new RegExp(`of another ${field}`),
        ];
      }),
    ),
  ];

  it.each(answers)('is a failure of that interceptor where it %s', async (_what, answer, error) => {
    for (const make of [validator('x', answer), { ...mutator('x'), answer }]) {
      const run = async (failOpen: boolean) => {
        const stub = host('bad', { ...make, descriptor: { ...make.descriptor, failOpen } });
        const options = { overrides: { x: { timeoutMs: 30 } } };
        const chain = await InterceptorChain.discover([stub.with({ maxResultBytes: 10_000 })], options);
        return chain.execute(MESSAGE);
      };
      const closed = await run(false);
      expect(closed.status).toMatch(/_failed$/);
      expect(closed.results[0].error).toMatch(error);
      expect(await run(true)).toMatchObject({ status: 'success', results: [{ failedOpen: true }] });
    }
  });

  it('may say what it answers, or leave it out', async () => {
    const told = { valid: true, interceptor: 'v', phase: 'request' };
    for (const said of [told, { validation: told }, { ...told, interceptor: '', phase: null }]) {
      const chain = await chainOf([
        host(
          'good',
          validator('v', () => said),
        ),
      ]);
      expect((await chain.execute(MESSAGE)).status).toBe('success');
    }
  });

  it('has a bounded say: but what it says last may be what denies', async () => {
    const message = 'x'.repeat(3000);
    const messages = Array.from({ length: 150 }, (_, index) => ({
      path: message,
      message,
      severity: index === 149 ? 'error' : 'info',
    }));
    const suggestions = messages.map(({ path }) => ({ path: path.slice(0, 5), value: 1 }));
    for (const nested of [false, true]) {
      const said = { valid: false, messages, suggestions };
      const chain = await chainOf([
        host(
          'big',
          validator('v', () => (nested ? { validation: said } : said)),
        ),
      ]);
      const { status, results } = await chain.execute(MESSAGE);
      expect(status).toBe('validation_failed');
      expect(results[0].severity).toBe('error');
      expect([results[0].messages!.length, results[0].suggestions!.length]).toEqual([100, 100]);
      expect(results[0].messages![0]).toMatchObject({
        message: `${message.slice(0, 2000)}…`,
        path: `${message.slice(0, 2000)}…`,
      });
    }
  });

  it('is left alone after it kept failing, and tried again later', async () => {
    let works = false;
    const stub = host(
      'bad',
      validator('v', async () => {
        if (!works) throw new Error('down');
        return { valid: true };
      }),
    );
    const breaker = { volume: 3, resetMs: 30 };
    const chain = await InterceptorChain.discover([stub.with({ breaker })]);
    for (let call = 0; call < 10; call++) {
      expect((await chain.execute(MESSAGE)).status).toBe('validation_failed');
    }
    expect(stub.invoked.length).toBeLessThan(10);
    works = true;
    let status: string;
    do {
      // The breaker's own timer needs its turn.
      await new Promise(setImmediate);
      ({ status } = await chain.execute(MESSAGE));
    } while (status !== 'success' && stub.invoked.length < 11);
    expect(status).toBe('success');
    chain.close();
  });

  it('does not count against itself that it was asked too often', async () => {
    const gate = deferred<void>();
    const slow = Array.from({ length: 10 }, (_, index) =>
      validator(`v${index}`, async () => {
        await gate.promise;
        return { valid: true };
      }),
    );
    const stub = host('busy', ...slow).with({ maxConcurrent: 1, breaker: { volume: 2 } });
    const chain = await InterceptorChain.discover([stub]);
    const asked = chain.execute(MESSAGE);
    gate.resolve();
    expect((await asked).results.map(({ outcome }) => outcome)).toEqual([
      'pass',
      ...Array<string>(9).fill('crash'),
    ]);
    const { results } = await chain.execute({ ...MESSAGE, interceptors: ['v0'] });
    expect(results.map(({ outcome }) => outcome)).toEqual(['pass']);
    chain.close();
  });

  it('does not count against itself that a caller went away, or asked wrongly', async () => {
    const wrong = Object.assign(new Error('no'), { code: -32602 });
    const stub = host(
      'good',
      validator('v', ({ payload }) => {
        const { does } = payload as { does?: string };
        if (does === 'wrong') return Promise.reject(wrong);
        return does === 'hang' ? new Promise(() => undefined) : { valid: true };
      }),
    );
    const chain = await InterceptorChain.discover([stub.with({ breaker: { volume: 2 } })]);
    for (let call = 0; call < 5; call++) {
      await chain.execute({ ...MESSAGE, payload: { does: 'wrong' } });
      const controller = new AbortController();
      const given = chain.execute({ ...MESSAGE, payload: { does: 'hang' }, signal: controller.signal });
      controller.abort();
      expect((await given).status).toBe('timeout');
    }
    expect((await chain.execute(MESSAGE)).status).toBe('success');
    chain.close();
  });

  it('is asked no more at a time than it may be', async () => {
    const gate = deferred<void>();
    let [now, most] = [0, 0];
    const slow = Array.from({ length: 6 }, (_, index) =>
      validator(`v${index}`, async () => {
        most = Math.max(most, ++now);
        if (now === 2) gate.resolve();
        await gate.promise;
        now--;
        return { valid: true };
      }),
    );
    const chain = await InterceptorChain.discover([host('small', ...slow).with({ maxConcurrent: 2 })]);
    const { status, results } = await chain.execute(MESSAGE);
    expect([status, most]).toEqual(['validation_failed', 2]);
    expect(results.map(({ outcome }) => outcome)).toEqual([
      'pass',
      'pass',
      ...Array<string>(4).fill('crash'),
    ]);
    chain.close();
  });
});

describe('what a host is sent', () => {
  const payload = { name: 'search', arguments: { query: 'tea', token: 'secret' }, _meta: { a: 1 } };
  const send = { payload: ['/name', '/arguments/query'] };
  const sees = async (answer: StubInterceptor['answer'], type: 'validation' | 'mutation') => {
    const stub = host('far', { ...(type === 'mutation' ? mutator('m') : validator('m')), answer });
    const chain = await InterceptorChain.discover([stub.with({ send })]);
    const result = await chain.execute({ ...MESSAGE, payload });
    chain.close();
    return { sent: stub.invoked[0].payload, result };
  };

  it('can be narrowed to places of the payload', async () => {
    const { sent } = await sees(() => ({ valid: true }), 'validation');
    expect(sent).toEqual({ name: 'search', arguments: { query: 'tea' } });
  });

  it('goes back into the whole payload', async () => {
    const { result } = await sees(
      () => ({ modified: true, payload: { name: 'search', arguments: { query: 'coffee' } } }),
      'mutation',
    );
    expect(result.finalPayload).toEqual({ ...payload, arguments: { query: 'coffee', token: 'secret' } });
  });

  it('can be taken out by it', async () => {
    const { result } = await sees(
      () => ({ modified: true, payload: { name: 'search', arguments: {} } }),
      'mutation',
    );
    expect(result.finalPayload).toEqual({ ...payload, arguments: { token: 'secret' } });
  });

  it('is all that it can change', async () => {
    const { result } = await sees(
      () => ({ modified: true, payload: { name: 'search', arguments: { query: 'tea', token: 'mine' } } }),
      'mutation',
    );
    expect(result.status).toBe('mutation_failed');
    expect(result.results[0].error).toMatch(/changed \/arguments\/token, which it did not receive/);
  });

  it.each([
    [[], {}],
    [['principal'], { principal: { type: 'user', id: 'ada' } }],
    [['principal', 'claims'], { principal: { type: 'user', id: 'ada', claims: { role: 'admin' } } }],
    [['session', 'timestamp'], { sessionId: 's', timestamp: '2026-01-01T00:00:00Z' }],
    [['trace'], { traceId: 't', spanId: 'p' }],
  ] as const)('holds of the context only %j', async (context, expected) => {
    const stub = host('far', validator('v'));
    const chain = await InterceptorChain.discover([stub.with({ send: { context: [...context] } })]);
    await chain.execute({
      ...MESSAGE,
      context: {
        principal: { type: 'user', id: 'ada', claims: { role: 'admin' } },
        sessionId: 's',
        timestamp: '2026-01-01T00:00:00Z',
        traceId: 't',
        spanId: 'p',
      },
    });
    expect(stub.invoked[0].context).toEqual(expected);
    chain.close();
  });
});

afterEach(() => hosts.splice(0));
