// Routes of controllers that become tools.
import {
  Body,
  Controller,
  Delete,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Query,
  Res,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import {
  ApiOperation,
  ApiProperty,
  ApiPropertyOptional,
} from '@nestjs/swagger';
import { IsBoolean, IsOptional, IsString, Length } from 'class-validator';
import { Transform } from 'class-transformer';
import { Ctx, McpModule, Tool, type McpContext } from 'nestjs-mcp';

interface OwnedRequest {
  readonly params: Record<string, string>;
  readonly headers: Record<string, string | undefined>;
}

@Injectable()
export class Orders {
  private readonly orders = new Map([
    [1, { id: 1, owner: 'ada', state: 'open' }],
    [2, { id: 2, owner: 'bob', state: 'open' }],
  ]);

  find(id: number) {
    const order = this.orders.get(id);
    if (!order) throw new NotFoundException(`There is no order ${id}`);
    return order;
  }

  cancel(id: number, reason: string, notify: boolean) {
    return { ...this.find(id), state: 'cancelled', reason, notify };
  }
}

@Injectable()
export class OwnerGuard implements CanActivate {
  constructor(private readonly orders: Orders) {}

  canActivate(context: ExecutionContext) {
    const request = context.switchToHttp().getRequest<OwnedRequest>();
    const { owner } = this.orders.find(Number(request.params['id']));
    return owner === request.headers['x-user'];
  }
}

// #region dtos
export class NotifyDto {
  @ApiPropertyOptional({ description: 'Whether to tell the customer' })
  @IsOptional()
  @Transform(({ value }) => value === true || value === 'true')
  @IsBoolean()
  notify?: boolean;
}

export class CancelDto {
  @ApiProperty({ description: 'Why', example: 'Ordered twice' })
  @IsString()
  @Length(3, 200)
  reason!: string;
}
// #endregion dtos

// #region route
@Controller('orders')
@UseGuards(OwnerGuard) // reads request.params.id
export class OrdersController {
  constructor(private readonly orders: Orders) {}

  @Tool({ annotations: { destructiveHint: true } })
  @Post(':id/cancel')
  @ApiOperation({ summary: 'Cancel an order' })
  cancel(
    @Param('id', ParseIntPipe) id: number,
    @Query() { notify = false }: NotifyDto,
    @Body() { reason }: CancelDto,
  ) {
    return this.orders.cancel(id, reason, notify);
  }
}
// #endregion route

@Controller('products')
export class ProductsController {
  @Get()
  list(@Query('search') search = '') {
    return ['lamp', 'chair'].filter(name => name.includes(search));
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a product' })
  find(@Param('id', ParseIntPipe) id: number) {
    return { id, name: 'lamp' };
  }

  @Get('export/all')
  export(@Res() response: { send(text: string): void }) {
    response.send('lamp,chair');
  }

  // #region left-out
  @Tool(false)
  @Delete(':id')
  remove(@Param('id', ParseIntPipe) id: number) {
    return `Product ${id} is removed`;
  }
  // #endregion left-out
}

@Controller('notes')
export class NotesController {
  // #region context
  @Tool()
  @Post(':id/archive')
  async archive(@Param('id') id: string, @Ctx() ctx?: McpContext) {
    await ctx?.reportProgress({ progress: 1, total: 2 });
    return `Note ${id} is archived`;
  }
  // #endregion context

  // #region renamed
  @Tool({ params: { 'path.id': 'noteId', 'body.id': 'newId' } })
  @Post(':id/rename')
  rename(@Param('id') id: string, @Body('id') newId: string) {
    return `Note ${id} is now ${newId}`;
  }
  // #endregion renamed
}

// #region routes
@Module({
  imports: [
    McpModule.forRoot({
      name: 'shop',
      version: '1.0.0',
      routes: {
        include: [ProductsController],
        methods: ['GET'],
        resources: true,
      },
    }),
  ],
  controllers: [ProductsController, OrdersController, NotesController],
  providers: [
    Orders,
    { provide: APP_PIPE, useValue: new ValidationPipe({ transform: true }) },
  ],
})
export class ShopModule {}
// #endregion routes
