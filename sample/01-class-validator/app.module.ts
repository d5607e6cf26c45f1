import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { Orders } from './orders.js';

@Module({
  imports: [McpModule.forRoot({ name: 'orders', version: '1.0.0' })],
  providers: [Orders],
})
export class AppModule {}
