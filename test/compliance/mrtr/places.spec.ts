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

/** Two different lines of this file. */
const PLACES =
  /twice at a time, at \w+ \(\S+places\.spec\.ts:(\d+):\d+\) and at \w+ \(\S+places\.spec\.ts:(?!\1:)\d+:\d+\);/;

describe('a key used twice at a time', () => {
  it.each([
    ['questions', (ctx: McpContext) => Promise.all([one(ctx), other(ctx)])],
    ['steps', (ctx: McpContext) => Promise.all([shortStep(ctx), longStep(ctx)])],
  ])('is an error that names both places: %s', async (_, handler) => {
    await expect(replayRounds<unknown>(handler)).rejects.toThrow(PLACES);
  });
});
