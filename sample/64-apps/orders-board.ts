import { Injectable } from '@nestjs/common';
import { Args, Ctx, McpContext, Tool } from 'nestjs-mcp';
import { App } from 'nestjs-mcp/apps';
import { z } from 'zod';

const Board = z.object({ open: z.array(z.string()), done: z.array(z.string()) });

@App({ uri: 'ui://orders/board', file: 'sample/64-apps/views/board.html', prefersBorder: true })
@Injectable()
export class OrdersBoard {
  private readonly open = new Set(['tea', 'coffee']);
  private readonly done = new Set<string>();

  /** The text is for the model and for clients without views, the structured content for the view. */
  @Tool({ description: 'Shows the orders', ui: 'ui://orders/board', outputSchema: Board })
  show(@Ctx() ctx: McpContext) {
    const board = { open: [...this.open], done: [...this.done] };
    const text = ctx.supportsUi ? `${this.open.size} open orders` : `Open: ${board.open.join(', ')}`;
    return { content: [{ type: 'text', text }], structuredContent: board };
  }

  /** For the buttons of the view: hosts do not offer it to the model. */
  @Tool({ description: 'Marks an order as done', ui: { visibility: ['app'] }, outputSchema: Board })
  finish(@Args('order') order: string) {
    if (this.open.delete(order)) this.done.add(order);
    return { open: [...this.open], done: [...this.done] };
  }
}
