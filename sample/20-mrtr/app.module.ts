import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { Deployments } from './deployments.js';
import { Pipeline } from './pipeline.js';

@Module({
  imports: [
    McpModule.forRoot({
      name: 'deployments',
      version: '1.0.0',
      // The same on every node: what a call remembers between two rounds is signed with it.
      mrtr: { secret: process.env.MCP_SECRET },
    }),
  ],
  providers: [Deployments, Pipeline],
})
export class AppModule {}
