import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { McpTasksModule } from 'nestjs-mcp/tasks';
import { Reports } from './reports.js';

@Module({
  imports: [
    McpModule.forRoot({ name: 'reports', version: '1.0.0' }),
    McpTasksModule.forRoot({ ttlMs: 600_000, pollIntervalMs: 100 }),
  ],
  providers: [Reports],
})
export class AppModule {}
