// #region test
import { Test } from '@nestjs/testing';
import type { INestApplication } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import { createTestClient } from 'nestjs-mcp/testing';
import { AppModule } from './start/app.module.js';

describe('the catalogue', () => {
  let app: INestApplication;
  let client: Client;

  beforeAll(async () => {
    const testing = Test.createTestingModule({ imports: [AppModule] });
    app = (await testing.compile()).createNestApplication();
    client = await createTestClient(app);
  });

  afterAll(async () => {
    await client.close();
    await app.close();
  });

  it('finds products', async () => {
    const result = await client.callTool({
      name: 'search',
      arguments: { query: 'lamp' },
    });
    expect(result.content).toEqual([
      { type: 'text', text: '["desk lamp","floor lamp"]' },
    ]);
  });

  it('tells the model about a wrong argument', async () => {
    const result = await client.callTool({
      name: 'search',
      arguments: { query: 'lamp', limit: 100 },
    });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain('limit');
  });
});
// #endregion test
