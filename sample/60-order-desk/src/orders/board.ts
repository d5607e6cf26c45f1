import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { IsInt } from 'class-validator';
import { Args, Ctx, McpContext, Tool } from 'nestjs-mcp';
import { App } from 'nestjs-mcp/apps';
import { Scopes } from '../auth/scopes.js';
import { OrdersService } from './orders.service.js';

export class ShipDto {
  /** The number of the order */
  @IsInt()
  id!: number;
}

/** The open orders, as a view that hosts show. */
@App({ uri: 'ui://orders/board', file: join(__dirname, 'board.html') })
@Injectable()
export class Board {
  constructor(private readonly orders: OrdersService) {}

  @Tool({
    name: 'show_board',
    description: 'Shows the open orders',
    annotations: { readOnlyHint: true },
    ui: 'ui://orders/board',
  })
  @Scopes('orders:read')
  async show(@Ctx() ctx: McpContext) {
    const orders = await this.rows();
    const lines = orders.map(({ id, text }) => `${id}: ${text}`).join('\n');
    const text = ctx.supportsUi ? `${orders.length} open orders` : lines || 'No open orders';
    return { content: [{ type: 'text', text }], structuredContent: { orders } };
  }

  /** For the buttons of the view. */
  @Tool({ name: 'ship_order', description: 'Ships an order', ui: { visibility: ['app'] } })
  @Scopes('orders:write')
  async ship(@Args() { id }: ShipDto) {
    await this.orders.ship(id);
    const orders = await this.rows();
    return { content: [{ type: 'text', text: `Order ${id} is shipped` }], structuredContent: { orders } };
  }

  private async rows() {
    const open = await this.orders.list('open');
    return open.map(({ id, quantity, product, customer }) => ({
      id,
      text: `${quantity} × ${product.name} for ${customer}`,
    }));
  }
}
