import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { Database } from './database.js';

@Module({
  imports: [McpModule.forRoot({ name: 'database', version: '1.0.0' })],
  providers: [Database],
})
export class AppModule {}
