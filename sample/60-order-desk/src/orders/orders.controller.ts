import { Body, Controller, Get, HttpCode, Param, ParseIntPipe, Post, Query, UseGuards } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { LoginGuard, User } from '../auth/login.guard.js';
import { Scopes } from '../auth/scopes.js';
import { CancelDto, ListDto, PlaceDto } from './orders.dto.js';
import { Order } from './order.entity.js';
import { OrdersService } from './orders.service.js';

@Controller('orders')
@UseGuards(LoginGuard)
@Scopes('orders:read')
export class OrdersController {
  constructor(private readonly orders: OrdersService) {}

  /** Lists the orders */
  @Tool({ name: 'list_orders' })
  @Get()
  list(@Query() { state }: ListDto): Promise<Order[]> {
    return this.orders.list(state);
  }

  /** Reads an order */
  @Tool({ name: 'read_order' })
  @Get(':id')
  read(@Param('id', ParseIntPipe) id: number): Promise<Order> {
    return this.orders.read(id);
  }

  /** Places an order, and takes the goods out of the stock */
  @Tool({ name: 'place_order' })
  @Post()
  @Scopes('orders:write')
  place(@User() clerk: string, @Body() order: PlaceDto): Promise<Order> {
    return this.orders.place(clerk, order);
  }

  /** Cancels an open order, and puts the goods back into the stock */
  @Tool({ name: 'cancel_order', annotations: { destructiveHint: true } })
  @Post(':id/cancel')
  @HttpCode(200)
  @Scopes('orders:write')
  cancel(@Param('id', ParseIntPipe) id: number, @Body() { reason }: CancelDto): Promise<Order> {
    return this.orders.cancel(id, reason);
  }
}
