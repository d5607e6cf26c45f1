import { Injectable, UseGuards } from '@nestjs/common';
import { Args, Ctx, McpContext, Prompt, Resource, Tool, Visible } from 'nestjs-mcp';
import { z } from 'zod';
import { Roles, RolesGuard } from './guards.js';

const Order = z.object({
  item: z.string().describe('Name of the item'),
  count: z.number().int().min(1).default(1).describe('How many'),
});

const Size = z.object({ size: z.enum(['S', 'M', 'L']) });

@Injectable()
export class Shop {
  @Tool({
    description: 'Searches the catalogue and returns how many items match',
    annotations: { readOnlyHint: true },
  })
  async search(@Args('query') query: string, @Ctx() ctx: McpContext) {
    await ctx.reportProgress(1, 2, 'Searching');
    return `2 results for ${query}`;
  }

  @Tool({ description: 'Orders an item, and asks for its size', inputSchema: Order })
  async order({ item, count }: z.infer<typeof Order>, ctx: McpContext) {
    const answer = await ctx.elicit('size', { message: `Which size of ${item}?`, schema: Size });
    return answer.action === 'accept'
      ? `ordered ${count} ${item}, size ${answer.content.size}`
      : 'not ordered';
  }

  @Tool({ description: 'Reads a customer record', annotations: { readOnlyHint: true } })
  @UseGuards(RolesGuard)
  @Visible(RolesGuard)
  @Roles('clerk')
  customer(@Args('id') id: string) {
    return `Customer ${id}, api key ghp_1234567890abcdefghijABCDEFGHIJ123456`;
  }

  @Tool()
  wipe() {
    return 'gone';
  }

  @Prompt({ description: 'A letter to a customer' })
  letter(@Args('name') name: string) {
    return `Write a friendly letter to ${name}.`;
  }

  @Resource({ uri: 'shop://hours', description: 'When the shop is open', cache: { ttlMs: 60_000 } })
  hours() {
    return '9 to 5';
  }
}
