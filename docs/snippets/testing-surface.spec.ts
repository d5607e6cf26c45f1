import { Test } from '@nestjs/testing';
import type { INestApplication } from '@nestjs/common';
import { toolSurface } from 'nestjs-mcp/testing';
import { AppModule } from './start/app.module.js';

let app: INestApplication;

beforeAll(async () => {
  const testing = Test.createTestingModule({ imports: [AppModule] });
  app = (await testing.compile()).createNestApplication();
});

afterAll(() => app.close());

// #region surface
it('shows models the same tools as before', async () => {
  const { text, tokens } = await toolSurface(app);
  expect(text).toMatchSnapshot();
  expect(tokens).toBeLessThan(500);
});
// #endregion surface
