import { inputRequest, type McpContext } from 'nestjs-mcp';
import { replayRounds } from 'nestjs-mcp/testing';

const FORM = {
  message: 'Which size?',
  schema: { type: 'object', properties: { size: { type: 'string' } } },
} as const;

async function one(ctx: McpContext) {
  await ctx.elicit('size', FORM);
}
async function other(ctx: McpContext) {
  await ctx.askAll({ size: inputRequest.elicit(FORM) });
}
async function shortStep(ctx: McpContext) {
  await ctx.step('count', () => Promise.resolve(1));
}
async function longStep(ctx: McpContext) {
  await ctx.step('count', () => Promise.resolve(2));
}

const TWO_PLACES =
  /at two places, \w+ \(\S+places\.spec\.ts:(\d+):\d+\) and \w+ \(\S+places\.spec\.ts:(?!\1:)\d+:\d+\);/;

/** Two different lines of this file. */
const PLACES =
  /twice at the same time, at \w+ \(\S+places\.spec\.ts:(\d+):\d+\) and at \w+ \(\S+places\.spec\.ts:(?!\1:)\d+:\d+\);/;

async function oneAfterOther(ctx: McpContext) {
  await one(ctx);
  await other(ctx);
}
/** The second path asks once the first has its answer. */
async function apart(ctx: McpContext) {
  const asked = one(ctx);
  await Promise.all([asked, asked.then(() => other(ctx))]);
}
async function steps(ctx: McpContext) {
  await shortStep(ctx);
  await longStep(ctx);
}

describe('a key used at two places', () => {
  it.each([
    ['questions, one after the other', oneAfterOther],
    ['questions on two paths', apart],
    ['steps', steps],
  ])('is an error that names both: %s', async (_, handler) => {
    const accepted = { size: { action: 'accept', content: {} } };
    await expect(replayRounds<unknown>(handler, accepted)).rejects.toThrow(TWO_PLACES);
  });

  it('may be used at one place again', async () => {
    const again = async (ctx: McpContext, left: number): Promise<void> => {
      await one(ctx);
      if (left > 0) await again(ctx, left - 1);
    };
    const { rounds } = await replayRounds(ctx => again(ctx, 2), { size: { action: 'decline' } });
    expect(rounds.map(asked => Object.keys(asked).join())).toEqual(['size', 'size#2', 'size#3']);
  });
});

describe('a key used twice at a time', () => {
  it.each([
    ['questions', (ctx: McpContext) => Promise.all([one(ctx), other(ctx)])],
    ['steps', (ctx: McpContext) => Promise.all([shortStep(ctx), longStep(ctx)])],
  ])('is an error that names both places: %s', async (_, handler) => {
    await expect(replayRounds<unknown>(handler)).rejects.toThrow(PLACES);
  });
});
