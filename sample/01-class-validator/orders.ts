import { Injectable } from '@nestjs/common';
import { Args, Tool } from 'nestjs-mcp';
import { PlaceOrderDto, ReceiptDto, Shipping } from './order.dto.js';

@Injectable()
export class Orders {
  @Tool({ description: 'Places an order', outputSchema: ReceiptDto })
  placeOrder(@Args() { email, lines, shipping }: PlaceOrderDto): ReceiptDto {
    return {
      email,
      items: lines.reduce((sum, { quantity }) => sum + quantity, 0),
      shippingCost: shipping === Shipping.Express ? 9.9 : 0,
    };
  }
}
