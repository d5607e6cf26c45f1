import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { PromotionsController, Warehouse } from './warehouse.js';

@Module({
  imports: [McpModule.forRoot({ name: 'warehouse', version: '1.0.0', http: { version: '1' } })],
  controllers: [PromotionsController],
  providers: [Warehouse],
})
export class AppModule {}
