// A tool that asks its user where to send an order, and one that knows.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Args, Ctx, McpContext, McpModule, Tool } from '../../dist/cjs/index.js';
import { QUESTION, SECRET } from './mrtr-question.js';

class Orders {
  @Tool({ inputSchema: { type: 'object' } })
  plain(@Args() { comment }: { comment: string }) {
    return `To eu: ${comment}`;
  }

  @Tool({ inputSchema: { type: 'object' } })
  async asking(@Args() { comment }: { comment: string }, @Ctx() ctx: McpContext) {
    const { content } = await ctx.elicit('region', QUESTION);
    return `To ${String(content?.['region'])}: ${comment}`;
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'bench', version: '1.0.0', mrtr: { secret: SECRET } })],
  providers: [Orders],
})
class App {}

const app = await NestFactory.create(App, { logger: ['error'] });
await app.listen(0, '127.0.0.1');
console.log(`${await app.getUrl()}/mcp`);
