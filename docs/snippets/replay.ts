import { IsIn, IsString } from 'class-validator';
import { Args, Ctx, McpContext, Tool } from 'nestjs-mcp';

class OrderDto {
  @IsString({ each: true })
  items!: string[];
}

class Size {
  @IsIn(['S', 'M', 'L'])
  size!: string;
}

class Prices {
  of(items: string[]) {
    return items.length * 10;
  }
}

class Orders {
  place(...order: unknown[]) {
    return JSON.stringify(order);
  }
}

export class OrderTools {
  private readonly prices = new Prices();
  private readonly orders = new Orders();

  // #region order
  @Tool({ description: 'Order items' })
  async order(@Args() { items }: OrderDto, @Ctx() ctx: McpContext) {
    const id = ctx.uuid(); // the same in every round
    const price = await ctx.step('price', () => this.prices.of(items)); // runs once
    const sizes = await Promise.all(
      items.map(item =>
        ctx.elicit(`size:${item}`, {
          message: `Size of ${item}?`,
          schema: Size,
        }),
      ),
    ); // one round
    if (sizes.some(({ action }) => action !== 'accept')) return 'Not ordered';
    return ctx.step('order', () => this.orders.place(id, items, sizes, price));
  }
  // #endregion order
}
