import { Injectable } from '@nestjs/common';
import { Args, Tool } from 'nestjs-mcp';
import { Toolset } from 'nestjs-mcp/toolsets';
import { IdDto } from './id.dto.js';

@Toolset('orders')
@Injectable()
export class OrderTools {
  @Tool({ name: 'find_order', description: 'Finds an order', annotations: { readOnlyHint: true } })
  find(@Args() { id }: IdDto) {
    return `Order ${id} is on its way`;
  }

  @Toolset('billing')
  @Tool({
    name: 'refund_order',
    description: 'Cancels an order and pays it back',
    hints: { searchHint: 'money back, return' },
  })
  refund(@Args() { id }: IdDto) {
    return `Order ${id} is refunded`;
  }
}
