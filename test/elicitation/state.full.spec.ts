import { Injectable, Module, type INestApplication, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  Args,
  Ctx,
  inputRequest,
  InputRequiredException,
  McpContext,
  McpModule,
  MemoryMrtrStore,
  Prompt,
  Tool,
  type McpModuleOptions,
} from 'nestjs-mcp';
import { LogSpy } from '../fixtures/log-spy.js';
import { send, type Round, type RoundAnswer } from '../fixtures/raw-client.js';

const FORM = {
  message: 'Which region?',
  schema: { type: 'object', properties: { name: { type: 'string' } } },
} as const;
const SECRETS = ['one secret of more than thirty-two bytes', 'another secret of more than thirty-two bytes'];
const UNSIGNED = 'not signed with the "mrtr.secret" of this node';
const REFUSED = {
  code: -32602,
  message: 'Invalid or expired requestState',
  data: { reason: 'invalid_request_state' },
};

let steps = 0;

@Injectable()
class Tools {
  @Tool({ inputSchema: { type: 'object' } })
  async awaited(@Ctx() ctx: McpContext, @Args() _: object) {
    const count = await ctx.step('count', () => ++steps);
    const first = await ctx.elicit('first', FORM);
    const second = await ctx.elicit('second', {
      ...FORM,
      message: `After ${String(first.content?.['name'])}?`,
    });
    return JSON.stringify([count, first.content?.['name'], second.content?.['name']]);
  }

  @Tool({ inputSchema: { type: 'object' } })
  thrown(@Ctx() ctx: McpContext, @Args() _: object) {
    const state = ctx.requestState<{ seen: number }>();
    if (state) return JSON.stringify([state, ctx.inputResponses ?? null]);
    throw new InputRequiredException({
      inputRequests: { first: inputRequest.elicit(FORM) },
      requestState: { seen: 1 },
    });
  }

  /** Asks for consent to what it was answered. */
  @Tool()
  async pay(@Ctx() ctx: McpContext) {
    const { content } = await ctx.elicit('first', FORM);
    if (await ctx.accepted('consent', FORM.schema)) return `paid ${String(content?.['name'])}`;
    throw new InputRequiredException({ inputRequests: { consent: inputRequest.elicit(FORM) } });
  }

  /** Does something because of an answer to an exception. */
  @Tool()
  async provisions(@Ctx() ctx: McpContext) {
    const where = await ctx.accepted('where', FORM.schema);
    if (!where) throw new InputRequiredException({ inputRequests: { where: inputRequest.elicit(FORM) } });
    const done = await ctx.step('provision', () => where['name']);
    await ctx.elicit('first', FORM);
    return String(done);
  }

  /** Asks without a state, then with one, then without. */
  @Tool()
  changing(@Ctx() ctx: McpContext) {
    const inputRequests = { first: inputRequest.elicit(FORM) };
    if (ctx.requestState() !== undefined) throw new InputRequiredException({ inputRequests });
    if (!ctx.inputResponses) throw new InputRequiredException({ inputRequests, requestState: 'one' });
    return `no state`;
  }

  @Tool()
  async long(@Ctx() ctx: McpContext, @Args('length') length: number) {
    const text = await ctx.step('text', () => Array.from({ length }, (_, index) => index).join());
    await ctx.elicit('first', FORM);
    return text.length;
  }

  @Tool()
  other() {
    return 'nothing asked';
  }

  @Prompt({ name: 'awaited' })
  async prompt(@Ctx() ctx: McpContext) {
    return (await ctx.elicit('first', FORM)).action;
  }
}

@Injectable()
class NextTools {
  @Tool({ inputSchema: { type: 'object' } })
  async awaited(@Ctx() ctx: McpContext, @Args() _: object) {
    const count = await ctx.step('count', () => ++steps);
    const { content } = await ctx.elicit('first', { ...FORM, message: 'The next version asks' });
    return JSON.stringify([count, content?.['name']]);
  }

  @Tool()
  async provisions(@Ctx() ctx: McpContext) {
    return (await ctx.elicit('first', FORM)).action;
  }

  @Tool({ inputSchema: { type: 'object' } })
  thrown(@Ctx() ctx: McpContext, @Args() _: object) {
    if (ctx.inputResponses) return 'answered';
    throw new InputRequiredException({
      inputRequests: { first: inputRequest.elicit({ ...FORM, message: 'The next version asks' }) },
      requestState: ctx.requestState() ?? 'anew',
    });
  }
}

interface Site {
  readonly app: INestApplication;
  readonly url: string;
  readonly logs: LogSpy;
}

async function start(
  mrtr: McpModuleOptions['mrtr'] = { secret: SECRETS[0] },
  options: Partial<McpModuleOptions> = {},
  tools: Type = Tools,
): Promise<Site> {
  @Module({
    imports: [McpModule.forRoot({ name: 'state', version: '1', mrtr, ...options })],
    providers: [tools],
  })
  class AppModule {}
  const logs = new LogSpy();
  const app = await NestFactory.create(AppModule, { logger: logs, abortOnError: false });
  app.use((request: { user?: object; headers: Record<string, string> }, _: unknown, next: () => void) => {
    const id = request.headers['x-user'];
    if (id !== undefined) request.user = { id };
    next();
  });
  await app.listen(0, '127.0.0.1');
  return { app, url: `${await app.getUrl()}/mcp`, logs };
}

const accept = (name: string) => ({ action: 'accept', content: { name } });
const textOf = ({ result }: RoundAnswer) => result?.content?.[0].text;

describe('the state of a call', () => {
  const sites: Site[] = [];
  const open = async (...args: Parameters<typeof start>) => {
    const site = await start(...args);
    sites.push(site);
    return site;
  };
  afterEach(async () => {
    jest.restoreAllMocks();
    for (const { app } of sites.splice(0)) await app.close();
  });

  describe.each(['awaited', 'thrown'])('that is made in the tool "%s"', name => {
    const args = { a: 1, b: { c: 'x', d: [null] } };
    const first: Round = { name, args, user: 'jo' };
    const next = (requestState: unknown): Round => ({
      ...first,
      requestState,
      inputResponses: { first: accept('eu') },
    });

    it.each<[string, (state: string) => Round | Promise<Round>, string]>([
      [
        'is changed',
        state => next(`${state.slice(0, 20)}${state[20] === 'A' ? 'B' : 'A'}${state.slice(21)}`),
        UNSIGNED,
      ],
      ['is cut', state => next(state.slice(0, -1)), UNSIGNED],
      ['is empty', () => next(''), 'malformed'],
      ['is made up', () => next('v1.e30.AAAA'), UNSIGNED],
      ['is too long', state => next(state + 'A'.repeat(20_000)), 'too long'],
      ["is another user's", state => ({ ...next(state), user: 'mo' }), 'bind'],
      ["is a user's, and nobody comes", state => ({ ...next(state), user: undefined }), 'bind'],
      ['is for other arguments', state => ({ ...next(state), args: { ...args, a: 2 } }), 'bind'],
      ['is for another tool', state => ({ ...next(state), name: 'other' }), 'bind'],
      [
        'is for another method',
        state => ({ ...next(state), method: 'prompts/get', name: 'awaited' }),
        'bind',
      ],
    ])('is refused where it %s', async (_, change, cause) => {
      const { url, logs } = await open();
      const { result } = await send(url, first);
      const { error } = await send(url, await change(result!.requestState!));
      expect(error).toEqual(REFUSED);
      expect(logs.warnings.join()).toContain(cause);
      expect(logs.errors).toEqual([]);
    });

    it('is refused where it is no text', async () => {
      const { url } = await open();
      expect((await send(url, next(7))).error).toEqual(REFUSED);
    });

    it('is refused where its time is over, and not before', async () => {
      const { url, logs } = await open({ secret: SECRETS[0], ttlSeconds: 60 });
      const { result } = await send(url, first);
      const now = Date.now();
      jest.spyOn(Date, 'now').mockImplementation(() => now + 58_000);
      expect((await send(url, next(result!.requestState))).error).toBeUndefined();
      jest.spyOn(Date, 'now').mockImplementation(() => now + 62_000);
      expect((await send(url, next(result!.requestState))).error).toEqual(REFUSED);
      expect(logs.warnings.join()).toContain('expired');
    });

    it("is refused where it is another server's, or made with a secret that nobody has", async () => {
      const one = await open();
      const { result } = await send(one.url, first);
      for (const two of [await open(undefined, { name: 'another' }), await open({ secret: SECRETS[1] })]) {
        expect((await send(two.url, next(result!.requestState))).error).toEqual(REFUSED);
      }
    });

    it('is good on another node, while secrets change, and for the same arguments in another order', async () => {
      const one = await open();
      const two = await open({ secrets: [SECRETS[1], SECRETS[0]] });
      const { result } = await send(one.url, first);
      const again = { ...next(result!.requestState), args: { b: { d: [null], c: 'x' }, a: 1 } };
      expect((await send(two.url, again)).error).toBeUndefined();
    });

    it('is good for one round only where that is asked for', async () => {
      const { url, logs } = await open({ secret: SECRETS[0], singleUse: true, store: new MemoryMrtrStore() });
      const { result } = await send(url, first);
      expect((await send(url, next(result!.requestState))).error).toBeUndefined();
      expect((await send(url, next(result!.requestState))).error).toEqual(REFUSED);
      expect(logs.warnings.join()).toContain('used before');
    });

    it('is kept from the client where that is asked for', async () => {
      const { url } = await open({ secret: SECRETS[0], encrypt: true });
      const { result } = await send(url, first);
      const state = result!.requestState!;
      expect(Buffer.from(state.split('.')[1], 'base64url').toString()).not.toMatch(/seen|count|first/);
      expect((await send(url, next(state))).error).toBeUndefined();
    });
  });

  it('brings back what was answered, and a step runs once', async () => {
    const { url } = await open();
    const before = steps;
    const one = await send(url, { name: 'awaited' });
    const two = await send(url, {
      name: 'awaited',
      requestState: one.result!.requestState,
      inputResponses: { first: accept('eu'), unknown: accept('nobody asked') },
    });
    expect(two.result!.inputRequests!['second'].params.message).toBe('After eu?');
    const three = await send(url, {
      name: 'awaited',
      requestState: two.result!.requestState,
      inputResponses: { second: accept('us') },
    });
    expect(textOf(three)).toBe(JSON.stringify([before + 1, 'eu', 'us']));
    expect(steps).toBe(before + 1);
  });

  it.each([
    ['is missing', {}],
    ['is missing altogether', undefined],
    ['is to another question', { other: accept('eu') }],
    ['is missing, and others are no answers', { other: 7, another: null }],
  ])('asks again where an answer %s', async (_, inputResponses) => {
    const { url } = await open();
    const { result } = await send(url, { name: 'awaited' });
    const again = await send(url, { name: 'awaited', requestState: result!.requestState, inputResponses });
    expect(Object.keys(again.result!.inputRequests!)).toEqual(['first']);
  });

  describe.each(['awaited', 'thrown'])('in the tool "%s"', name => {
    it.each([
      ['in the form of other implementations', { method: 'elicitation/create', result: accept('eu') }],
      ['that is no object', 'yes'],
      ['that is null', null],
      ['that is a list', [accept('eu')]],
      ['that answers nothing', { name: 'eu' }],
    ])('refuses an answer %s', async (_, first) => {
      const { url } = await open();
      const { result } = await send(url, { name });
      const { requestState } = result!;
      const { error } = await send(url, { name, requestState, inputResponses: { first } });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('cannot be used') });
    });
  });

  it('brings back answers to what was asked, and no others', async () => {
    const { url } = await open();
    const { result } = await send(url, { name: 'thrown' });
    const answers =
      '"first":{"action":"decline"},"other":{"action":"accept"},"__proto__":{"region":{"action":"accept"}}';
    const done = await send(url, {
      name: 'thrown',
      requestState: result!.requestState,
      inputResponses: JSON.parse(`{${answers}}`) as unknown,
    });
    expect(textOf(done)).toBe(JSON.stringify([{ seen: 1 }, { first: { action: 'decline' } }]));
  });

  it.each([
    ['of another kind', { role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } }],
    ['that the form does not admit', { action: 'accept', content: { name: 7 } }],
  ])('refuses an answer %s', async (_, first) => {
    const { url } = await open();
    const { result } = await send(url, { name: 'awaited' });
    const { error } = await send(url, {
      name: 'awaited',
      requestState: result!.requestState,
      inputResponses: { first },
    });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('cannot be used') });
  });

  it('starts again where the client drops it', async () => {
    const { url } = await open();
    const { result } = await send(url, { name: 'awaited' });
    const two = await send(url, {
      name: 'awaited',
      requestState: result!.requestState,
      inputResponses: { first: accept('eu') },
    });
    expect(Object.keys(two.result!.inputRequests!)).toEqual(['second']);
    const lost = await send(url, { name: 'awaited', inputResponses: { second: accept('us') } });
    expect(Object.keys(lost.result!.inputRequests!)).toEqual(['first']);
  });

  it('is not there where the round before had none', async () => {
    const { url } = await open();
    const one = await send(url, { name: 'changing' });
    const answers = { first: accept('eu') };
    const two = await send(url, {
      name: 'changing',
      requestState: one.result!.requestState,
      inputResponses: answers,
    });
    // What travels is what was asked, and nothing of the handler's.
    const last = { name: 'changing', requestState: two.result!.requestState, inputResponses: answers };
    expect(textOf(await send(url, last))).toBe('no state');
  });

  it('asks its questions again after a deployment that changed the handler, but repeats no step', async () => {
    const one = await open();
    const two = await open(undefined, {}, NextTools);
    const { result } = await send(one.url, { name: 'awaited' });
    const count = steps;
    const again = await send(two.url, {
      name: 'awaited',
      requestState: result!.requestState,
      inputResponses: { first: accept('eu') },
    });
    expect(again.result!.inputRequests!['first'].params.message).toBe('The next version asks');
    expect(two.logs.warnings.join()).toContain('has changed since');
    const done = await send(two.url, {
      name: 'awaited',
      requestState: again.result!.requestState,
      inputResponses: { first: accept('us') },
    });
    expect(textOf(done)).toBe(JSON.stringify([count, 'us']));
  });

  it('takes no answer to what was not asked yet', async () => {
    const { url } = await open();
    const consent = accept('yes');
    let round = await send(url, { name: 'pay', inputResponses: { consent } });
    for (const asked of ['first', 'consent']) {
      expect(Object.keys(round.result!.inputRequests!)).toEqual([asked]);
      const { requestState } = round.result!;
      round = await send(url, { name: 'pay', requestState, inputResponses: { first: accept('7'), consent } });
    }
    expect(textOf(round)).toBe('paid 7');
  });

  it('is refused by another version of a handler that has done something because of an answer', async () => {
    const one = await open();
    const two = await open(undefined, {}, NextTools);
    const asked = await send(one.url, { name: 'provisions' });
    const done = await send(one.url, {
      name: 'provisions',
      requestState: asked.result!.requestState,
      inputResponses: { where: accept('eu') },
    });
    const { requestState } = done.result!;
    const retry = { name: 'provisions', requestState, inputResponses: { first: accept('x') } };
    expect((await send(two.url, retry)).error).toEqual(REFUSED);
    expect(textOf(await send(one.url, retry))).toBe('eu');
  });

  it('carries no consent to another version of a handler that asks by exception', async () => {
    const one = await open();
    const two = await open(undefined, {}, NextTools);
    const { result } = await send(one.url, { name: 'thrown' });
    const retry = { name: 'thrown', inputResponses: { first: accept('eu') } };
    const again = await send(two.url, { ...retry, requestState: result!.requestState });
    expect(again.result!.inputRequests!['first'].params.message).toBe('The next version asks');
    expect(two.logs.warnings.join()).toContain('has changed since');
    expect(textOf(await send(two.url, { ...retry, requestState: again.result!.requestState }))).toBe(
      'answered',
    );
  });

  it.each([false, true])(
    'is good for another try where the store was away (single use: %s)',
    async singleUse => {
      const store = new MemoryMrtrStore();
      const { url, logs } = await open({ secret: SECRETS[0], maxStateBytes: 1000, store, singleUse });
      const { result } = await send(url, { name: 'long', args: { length: 3000 } });
      const retry = {
        name: 'long',
        args: { length: 3000 },
        requestState: result!.requestState,
        inputResponses: { first: accept('x') },
      };
      const get = jest.spyOn(store, 'get').mockRejectedValueOnce(new Error('the store is away'));
      const failed = JSON.stringify(await send(url, retry));
      expect(failed).toContain('The server cannot reach a store that this call needs');
      expect(failed).not.toContain('the store is away');
      expect(logs.warnings.join()).toContain('the store is away');
      get.mockRestore();
      expect(Number(textOf(await send(url, retry)))).toBeGreaterThan(13_000);
    },
  );

  it('is compressed where it is long', async () => {
    const { url } = await open();
    const { result } = await send(url, { name: 'long', args: { length: 3000 } });
    expect(result!.requestState!.length).toBeLessThan(13_000);
    const done = await send(url, {
      name: 'long',
      args: { length: 3000 },
      requestState: result!.requestState,
      inputResponses: { first: accept('x') },
    });
    expect(Number(textOf(done))).toBeGreaterThan(13_000);
  });

  it('goes to the store where it is too large to travel, and is refused once that has lost it', async () => {
    const store = new MemoryMrtrStore();
    const { url } = await open({ secret: SECRETS[0], maxStateBytes: 1000, store });
    const { result } = await send(url, { name: 'long', args: { length: 3000 } });
    expect(result!.requestState!.length).toBeLessThan(500);
    const retry = {
      name: 'long',
      args: { length: 3000 },
      requestState: result!.requestState,
      inputResponses: { first: accept('x') },
    };
    expect(Number(textOf(await send(url, retry)))).toBeGreaterThan(13_000);
    jest.spyOn(store, 'get').mockResolvedValue(undefined);
    expect((await send(url, retry)).error).toEqual(REFUSED);
  });

  it.each<[string, McpModuleOptions['mrtr'], string]>([
    ['travel, without a store', { maxStateBytes: 1000 }, 'set "mrtr.store"'],
    ['keep', { maxJournalBytes: 1000 }, 'more than "mrtr.maxJournalBytes" (1000) allows'],
  ])('is an error where it is too large to %s', async (_, options, said) => {
    const { url, logs } = await open({ secret: SECRETS[0], ...options });
    const { result } = await send(url, { name: 'long', args: { length: 3000 } });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Internal error') }],
    });
    expect(logs.errors.join()).toContain(said);
  });

  it('is signed with a secret of its own where there is none, which is said once', async () => {
    const { url, logs } = await open({});
    for (let call = 0; call < 2; call++) await send(url, { name: 'awaited' });
    expect(logs.warnings.filter(text => text.includes('"mrtr.secret"'))).toHaveLength(1);
  });
});

describe('the options of mrtr', () => {
  it.each<[unknown, string]>([
    [7, '"mrtr" must be an object'],
    [{ secrte: 'x' }, 'unknown option "mrtr.secrte"'],
    [{ secret: 'short' }, 'at least 32 bytes'],
    [{ secrets: [SECRETS[0], 7] }, 'at least 32 bytes'],
    [{ secret: SECRETS[0], secrets: SECRETS }, 'either "secret" or "secrets"'],
    [{ ttlSeconds: 0 }, '"mrtr.ttlSeconds"'],
    [{ maxRounds: 1.5 }, '"mrtr.maxRounds"'],
    [{ singleUse: true }, 'needs "mrtr.store"'],
    [{ store: {} }, '"mrtr.store" must be'],
    [{ encrypt: 'yes' }, '"mrtr.encrypt"'],
    [{ onMismatch: 'ignore' }, '"mrtr.onMismatch"'],
    [{ suspension: { max: 1 } }, 'unknown option "mrtr.suspension.max"'],
    [{ suspension: { maxTotal: 0 } }, '"mrtr.suspension.maxTotal"'],
  ])('%j is refused at start', async (mrtr, said) => {
    await expect(async () => start(mrtr as McpModuleOptions['mrtr'])).rejects.toThrow(said);
  });
});
