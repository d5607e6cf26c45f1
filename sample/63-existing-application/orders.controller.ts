import {
  Body,
  Controller,
  createParamDecorator,
  Delete,
  Get,
  HttpCode,
  Param,
  ParseIntPipe,
  Post,
  Query,
  UseGuards,
  type ExecutionContext,
} from '@nestjs/common';
import { ApiBearerAuth, ApiOperation } from '@nestjs/swagger';
import { InjectRepository } from '@nestjs/typeorm';
import { Tool } from 'nestjs-mcp';
import type { Repository } from 'typeorm';
import { OwnerGuard, type UserRequest } from './login.js';
import { Order } from './order.entity.js';
import { CancelDto, CreateDto, ListDto } from './orders.dto.js';

const User = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<UserRequest>().user,
);

@ApiBearerAuth()
@Controller('orders')
export class OrdersController {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  @Get()
  @ApiOperation({ summary: 'List your orders' })
  list(@User() owner: string, @Query() { state }: ListDto) {
    return this.orders.findBy({ owner, state });
  }

  @Get(':id')
  @UseGuards(OwnerGuard)
  @ApiOperation({ summary: 'Read one of your orders' })
  find(@Param('id', ParseIntPipe) id: number) {
    return this.orders.findOneByOrFail({ id });
  }

  @Post()
  @ApiOperation({ summary: 'Place an order' })
  create(@User() owner: string, @Body() { product }: CreateDto) {
    return this.orders.save({ owner, product });
  }

  @Tool({ name: 'orders_cancel', annotations: { destructiveHint: true } })
  @Post(':id/cancel')
  @HttpCode(200)
  @UseGuards(OwnerGuard)
  @ApiOperation({ summary: 'Cancel one of your orders' })
  async cancel(@Param('id', ParseIntPipe) id: number, @Body() { reason }: CancelDto) {
    await this.orders.update({ id }, { state: 'cancelled', reason });
    return this.orders.findOneByOrFail({ id });
  }

  @Tool(false) // not for models
  @Delete()
  async clear(@User() owner: string) {
    await this.orders.delete({ owner });
  }
}
