import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { McpAppsModule } from 'nestjs-mcp/apps';
import { SalesChart } from './sales-chart.js';

@Module({
  imports: [McpModule.forRoot({ name: 'sales', version: '1.0.0' }), McpAppsModule.forRoot()],
  providers: [SalesChart],
})
export class AppModule {}
