import { inputRequest, InputRequiredException, type McpContext } from 'nestjs-mcp';
import { replayRounds } from 'nestjs-mcp/testing';

const FORM = {
  message: 'Which?',
  schema: { type: 'object', properties: { name: { type: 'string' } } },
} as const;
const accept = (name: string) => ({ action: 'accept', content: { name } });

describe('replayRounds', () => {
  it('runs a handler for as many rounds as it asks for, and its steps once', async () => {
    let steps = 0;
    const handler = async (ctx: McpContext) => {
      const count = await ctx.step('count', () => ++steps);
      const { content } = await ctx.elicit('first', FORM);
      const [second, third] = await Promise.all([ctx.elicit('second', FORM), ctx.sample('third', SAMPLE)]);
      return [count, content?.['name'], second.action, third.model, ctx.round];
    };
    const { result, rounds } = await replayRounds(handler, {
      first: accept('a'),
      second: { action: 'decline' },
      third: { role: 'assistant', model: 'm', content: { type: 'text', text: 'x' } },
    });
    expect(result).toEqual([1, 'a', 'decline', 'm', 2]);
    expect(rounds.map(asked => Object.keys(asked))).toEqual([['first'], ['second', 'third']]);
    expect(rounds[0]['first']).toMatchObject({ method: 'elicitation/create', params: { message: 'Which?' } });
    expect(steps).toBe(1);
  });

  it('runs what throws an InputRequiredException', async () => {
    const handler = async (ctx: McpContext) => {
      const name = await ctx.accepted('first', FORM.schema);
      if (name) return [name, ctx.requestState()];
      throw new InputRequiredException({
        inputRequests: { first: inputRequest.elicit(FORM) },
        requestState: { seen: 1 },
      });
    };
    const { result } = await replayRounds(handler, { first: accept('a') });
    expect(result).toEqual([{ name: 'a' }, { seen: 1 }]);
  });

  it.each<[string, (ctx: McpContext) => Promise<unknown>, string]>([
    [
      'asks something else each time',
      ctx => ctx.elicit('first', { ...FORM, message: `At ${process.hrtime.bigint()}?` }),
      'asks other input requests',
    ],
    ['has a question without an answer', ctx => ctx.elicit('unknown', FORM), 'asks "unknown", but'],
    ['asks without end', async ctx => endless(ctx), 'more than'],
    ['asks in a step', ctx => ctx.step('outer', () => ctx.elicit('first', FORM)), 'MRTR_ASK_IN_STEP'],
    ['returns what JSON cannot hold from a step', ctx => ctx.step('big', () => 1n), 'MRTR_STEP_RESULT'],
    ['goes on after the signal', ctx => ctx.elicit('first', FORM).catch(() => 'on'), 'MRTR_ASK_SWALLOWED'],
    ['races', ctx => Promise.race([ctx.elicit('first', FORM)]), 'MRTR_RACE'],
    ['wants any', ctx => Promise.any([ctx.elicit('first', FORM)]), 'MRTR_RACE'],
    ['races from afar', ctx => Promise.race([later(ctx), Promise.resolve(1)]), 'MRTR_ASK_SWALLOWED'],
    ['uses a key twice at a time', ctx => twice(ctx), /MRTR_DUPLICATE_KEY/.source],
    ['throws', () => Promise.reject(new Error('broken')), 'broken'],
  ])('fails where the handler %s', async (_, handler, said) => {
    await expect(replayRounds(handler, { first: accept('a') })).rejects.toThrow(said);
  });

  it('runs what holds on to a promise and awaits it after another question', async () => {
    const { result } = await replayRounds(
      async ctx => {
        const first = (async () => (await ctx.elicit('first', FORM)).action)();
        const { action } = await ctx.elicit('second', FORM);
        return [await first, action];
      },
      { first: accept('a'), second: { action: 'decline' } },
    );
    expect(result).toEqual(['accept', 'decline']);
  });

  it('names both places of a key that is used twice at a time', async () => {
    const error = await replayRounds(twice, {}).catch((thrown: Error) => thrown);
    expect((error as Error).message.match(/replay-rounds\.spec/g)).toHaveLength(2);
  });

  it('lets finally blocks run in every round', async () => {
    const open = { count: 0, most: 0 };
    const { result } = await replayRounds(
      async ctx => {
        open.most = Math.max(open.most, ++open.count);
        try {
          return (await ctx.elicit('first', FORM)).action;
        } finally {
          open.count--;
        }
      },
      { first: accept('a') },
    );
    expect([result, open]).toEqual(['accept', { count: 0, most: 1 }]);
  });
});

const SAMPLE = { messages: [], maxTokens: 1 };

async function endless(ctx: McpContext): Promise<void> {
  for (;;) await ctx.elicit('first', FORM);
}

async function later(ctx: McpContext): Promise<unknown> {
  await Promise.resolve();
  return ctx.elicit('first', FORM);
}

async function twice(ctx: McpContext): Promise<void> {
  const one = ctx.elicit('first', FORM);
  const two = ctx.elicit('first', FORM);
  await Promise.all([one, two]);
}
