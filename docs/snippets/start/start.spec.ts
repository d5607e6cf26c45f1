import { ConsoleLogger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createTestClient } from 'nestjs-mcp/testing';
import { checkOutput } from '../support.js';
import { AppModule } from './app.module.js';
import { searchFor } from './client.js';

class Lines extends ConsoleLogger {
  readonly lines: string[] = [];

  override log(message: unknown, context?: string) {
    this.lines.push(`[${context}] ${String(message)}`);
  }

  override debug() {}
}

it('the server logs what it offers, and answers', async () => {
  const logger = new Lines();
  const app = await NestFactory.create(AppModule, { logger });
  const client = await createTestClient(app, { era: 'legacy' });
  checkOutput(
    'start-log.txt',
    logger.lines
      .filter(line => line.startsWith('[McpModule(shop)]'))
      .join('\n')
      .replace(/127\.0\.0\.1:\d+/, 'localhost:3000'),
  );
  checkOutput(
    'search.txt',
    await client.callTool({ name: 'search', arguments: { query: 'lamp' } }),
  );
  await client.close();
  expect(await searchFor('floor', `${await app.getUrl()}/mcp`)).toEqual([
    { type: 'text', text: '["floor lamp"]' },
  ]);
  await app.close();
});
