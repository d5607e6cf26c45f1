import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { McpRedisModule } from 'nestjs-mcp/redis';
import { Bakery } from './bakery.js';

@Module({
  imports: [
    McpModule.forRoot({ name: 'bakery', version: '1.0.0', mrtr: { secret: process.env.MCP_SECRET } }),
    McpRedisModule.forRoot({ url: process.env.REDIS_URL!, prefix: 'bakery:' }),
  ],
  providers: [Bakery],
})
export class AppModule {}
