import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { McpTasksModule } from 'nestjs-mcp/tasks';
import { Reports } from './reports.js';

@Module({
  imports: [
    McpModule.forRoot({ name: 'reports', version: '1.0.0' }),
    McpTasksModule.forRoot({ ttlMs: 600_000, pollIntervalMs: 100 }), // defaults: 1 hour, 1 second
  ],
  providers: [Reports],
})
export class AppModule {}
