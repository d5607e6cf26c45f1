import { Test } from '@nestjs/testing';
import type { INestApplication } from '@nestjs/common';
import {
  createTestClient,
  expectToolError,
  jsonOf,
  type TestClient,
} from 'nestjs-mcp/testing';
import { AppModule } from './start/app.module.js';
import { CatalogTools } from './start/catalog.tools.js';

describe('the catalogue', () => {
  let app: INestApplication;
  let client: TestClient;

  beforeAll(async () => {
    const testing = Test.createTestingModule({ imports: [AppModule] });
    app = (await testing.compile()).createNestApplication();
    client = await createTestClient(app);
  });

  afterAll(async () => {
    await client.close();
    await app.close();
  });

  // #region results
  it('finds products', async () => {
    const result = await client.call(CatalogTools, 'search', { query: 'lamp' });
    expect(jsonOf(result)).toEqual(['desk lamp', 'floor lamp']);
  });

  it('tells the model about a wrong argument', async () => {
    const wrong = { query: 'lamp', limit: 100 };
    expectToolError(await client.call(CatalogTools, 'search', wrong), 'limit');
  });
  // #endregion results
});
