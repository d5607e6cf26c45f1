import { Test } from '@nestjs/testing';
import { McpModule } from 'nestjs-mcp';
import { createTestClient } from 'nestjs-mcp/testing';
import { CatalogTools, Products, StrictModule } from './schemas.js';
import { ProductService } from './shop.js';

// The table of unknown properties in docs/schemas.md.
describe.each([
  { pipe: 'no pipe', imports: [] },
  { pipe: 'a strict global ValidationPipe', imports: [StrictModule] },
])('an unknown property, with $pipe', ({ imports }) => {
  it.each([
    { name: 'search', isRefused: true },
    { name: 'byZod', isRefused: false },
    { name: 'byArktype', isRefused: false },
    { name: 'byValibot', isRefused: false },
    { name: 'byJsonSchema', isRefused: true },
  ])('of $name is refused: $isRefused', async ({ name, isRefused }) => {
    const testing = Test.createTestingModule({
      imports: [
        McpModule.forRoot({ name: 'shop', version: '1.0.0' }),
        ...imports,
      ],
      providers: [
        CatalogTools,
        ProductService,
        {
          provide: Products,
          useFactory: () => new Products(new ProductService()),
        },
      ],
    });
    const app = (await testing.compile()).createNestApplication();
    const client = await createTestClient(app);
    const result = await client.callTool({
      name,
      arguments: {
        ...(name === 'search' ? { query: 'lamp' } : { id: '1' }),
        unknown: true,
      },
    });
    expect(result.isError ?? false).toBe(isRefused);
    await client.close();
    await app.close();
  });
});
