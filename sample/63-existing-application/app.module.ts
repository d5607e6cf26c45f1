import { Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { McpModule } from 'nestjs-mcp';
import { LoginMiddleware } from './login.js';
import { Order } from './order.entity.js';
import { OrdersController } from './orders.controller.js';

@Module({
  imports: [
    TypeOrmModule.forRoot({ type: 'sqljs', entities: [Order], synchronize: true }), // SQLite in memory
    TypeOrmModule.forFeature([Order]),
    McpModule.forRoot({ name: 'orders', version: '1.0.0', routes: { include: [OrdersController] } }),
  ],
  controllers: [OrdersController],
})
export class AppModule implements NestModule {
  configure(consumer: MiddlewareConsumer) {
    consumer.apply(LoginMiddleware).forRoutes(OrdersController);
  }
}
