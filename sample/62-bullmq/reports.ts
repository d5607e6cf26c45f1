import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Args, Ctx, McpContext, Tool } from 'nestjs-mcp';
import { z } from 'zod';

const Format = z.object({ format: z.enum(['text', 'csv']) });

@Injectable()
export class Reports {
  @Tool({ description: 'Builds the yearly report', task: 'optional' })
  async report(@Args('year') year: number, @Ctx() ctx: McpContext) {
    ctx.task?.status(`${process.env.NODE} begins`);
    const { content } = await ctx.elicit('format', { message: 'Which format?', schema: Format });
    return `${process.env.NODE} has built ${year} as ${content?.format}`;
  }

  /** Runs again in another worker if its worker dies. A month that was read is not read again. */
  @Tool({ description: 'Counts the orders of a year', task: { mode: 'required', retry: true } })
  async count(@Args('year') year: number, @Ctx() ctx: McpContext) {
    let orders = 0;
    for (let month = 1; month <= 12; month++) {
      orders += await ctx.step(`month-${month}`, () => this.ordersOf(year, month, ctx.signal));
      ctx.task?.status(`${process.env.NODE} has read month ${month}`);
    }
    return `${orders} orders`;
  }

  private async ordersOf(year: number, month: number, signal: AbortSignal): Promise<number> {
    console.log(`${process.env.NODE} reads ${year}-${month}`);
    await pause(300, undefined, { signal });
    return month * (year % 10);
  }
}
