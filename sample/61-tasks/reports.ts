import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Args, Ctx, McpContext, Tool } from 'nestjs-mcp';
import { z } from 'zod';

const Format = z.object({ format: z.enum(['text', 'csv']) });

@Injectable()
export class Reports {
  /** A task for clients that declare the extension, and an ordinary call for others. */
  @Tool({ description: 'Builds the yearly report', task: 'optional' })
  async report(@Args('year') year: number, @Ctx() ctx: McpContext) {
    const { content } = await ctx.elicit('format', { message: 'Which format?', schema: Format });
    let total = 0;
    for (let month = 1; month <= 12; month++) {
      ctx.task?.status(`Reading month ${month}`);
      await ctx.reportProgress(month, 12);
      total += await this.ordersOf(year, month, ctx.signal); // aborts when the client cancels the task
    }
    return content?.format === 'csv' ? `year,orders\n${year},${total}` : `${total} orders in ${year}`;
  }

  /** Becomes a task only if it takes longer than two seconds. */
  @Tool({ description: 'Exports the orders', task: { after: 2000, ttlMs: 60_000 } })
  async export(@Args('year') year: number) {
    return `The orders of ${year} are exported`;
  }

  private async ordersOf(year: number, month: number, signal: AbortSignal): Promise<number> {
    await pause(20, undefined, { signal });
    return month * (year % 10);
  }
}
