import { Injectable } from '@nestjs/common';
import { Args, Ctx, McpContext, Prompt, Resource, Tool, type McpModuleOptions } from 'nestjs-mcp';
import { RateLimit } from 'nestjs-mcp/interceptors';

export const SECRET = 'a secret of more than thirty-two bytes';
export const PRICES = 'shop://prices';

/** Answers of a client to the question of `buy`. */
export const YES = { size: { action: 'accept', content: { size: 'L' } } };

const FORM = {
  message: 'Which size?',
  schema: { type: 'object', properties: { size: { type: 'string' } } },
} as const;

/** The handlers of every node. */
@Injectable()
export class Shop {
  @Tool()
  hello() {
    return 'hello';
  }

  @Tool()
  change(@Ctx() ctx: McpContext) {
    ctx.sendResourceUpdated(PRICES);
    return 'changed';
  }

  @Tool({ inputSchema: { type: 'object' } })
  async buy(@Ctx() ctx: McpContext, @Args() _: object) {
    const { content } = await ctx.elicit('size', FORM);
    return `bought ${String(content?.['size'])}`;
  }

  @Tool()
  limited() {
    return 'within the limit';
  }

  @Prompt()
  greet() {
    return 'Greet';
  }

  @Resource({ uri: PRICES })
  prices() {
    return '1';
  }
}

/** Two calls of `limited` for each caller. */
export const Limit = RateLimit({ points: 2, duration: 600, when: { name: 'limited' } });

/** States that can be used once, and that do not travel. */
export const SINGLE_USE: McpModuleOptions['mrtr'] = { secret: SECRET, singleUse: true };
export const OVERSIZED: McpModuleOptions['mrtr'] = { secret: SECRET, maxStateBytes: 100 };
