import { Injectable } from '@nestjs/common';
import { IsIn } from 'class-validator';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { Scopes } from '../auth/scopes.js';
import { OrdersService } from '../orders/orders.service.js';

export class FormatDto {
  @IsIn(['text', 'csv'])
  format!: 'text' | 'csv';
}

@Injectable()
export class Reports {
  constructor(private readonly orders: OrdersService) {}

  /** A task for clients that know tasks, and an ordinary call for others. */
  @Tool({ name: 'report_sales', description: 'Reports the sales of each product', task: 'optional' })
  @Scopes('orders:read')
  async sales(@Ctx() ctx: McpContext) {
    const answer = await ctx.elicit('format', { message: 'Which format?', schema: FormatDto });
    if (answer.action !== 'accept') return 'No report';
    ctx.task?.status('Reading the orders');
    const sales = new Map<string, number>();
    for (const { state, product, quantity } of await this.orders.list()) {
      ctx.signal.throwIfAborted();
      if (state === 'cancelled') continue;
      sales.set(product.sku, (sales.get(product.sku) ?? 0) + quantity * product.price);
    }
    const separator = answer.content.format === 'csv' ? ',' : ': ';
    return [...sales].map(([sku, cents]) => `${sku}${separator}${(cents / 100).toFixed(2)}`).join('\n');
  }
}
