import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Resource, Tool } from 'nestjs-mcp';

const MENU = 'bakery://menu';
const FORM = {
  message: 'Which bread?',
  schema: { type: 'object', properties: { bread: { type: 'string' } }, required: ['bread'] },
} as const;

@Injectable()
export class Bakery {
  @Tool({ description: 'Says which node answers' })
  where() {
    return process.env.NODE;
  }

  @Tool({ description: 'Asks for a bread, and orders it' })
  async order(@Ctx() ctx: McpContext) {
    const { action, content } = await ctx.elicit('bread', FORM);
    return action === 'accept'
      ? `${process.env.NODE} has ordered ${String(content.bread)}`
      : 'Nothing ordered';
  }

  @Tool({ description: 'Bakes for as long as it is told to, in milliseconds' })
  async bake(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1, 2);
    console.log(`baking on ${process.env.NODE}`);
    await pause(3000, undefined, { signal: ctx.signal });
    return 'a loaf';
  }

  @Tool({ description: 'Changes the menu' })
  change(@Ctx() ctx: McpContext) {
    ctx.sendResourceUpdated(MENU);
    return `${process.env.NODE} has changed the menu`;
  }

  @Resource({ uri: MENU })
  menu() {
    return 'rye, wheat';
  }
}
