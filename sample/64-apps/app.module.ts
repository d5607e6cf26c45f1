import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { McpAppsModule } from 'nestjs-mcp/apps';
import { OrdersBoard } from './orders-board.js';

@Module({
  imports: [McpModule.forRoot({ name: 'orders', version: '1.0.0' }), McpAppsModule.forRoot()],
  providers: [OrdersBoard],
})
export class AppModule {}
