import { CatalogTools, Products, StrictModule } from './schemas.js';
import { ProductService } from './shop.js';
import { checkOutput, startShop } from './support.js';

const providers = [
  CatalogTools,
  ProductService,
  {
    provide: Products,
    useFactory: () => new Products(new ProductService()),
  },
];

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
    const { client, close } = await startShop({ imports, providers });
    const result = await client.callTool({
      name,
      arguments: {
        ...(name === 'search' ? { query: 'lamp' } : { id: '1' }),
        unknown: true,
      },
    });
    expect(result.isError ?? false).toBe(isRefused);
    await close();
  });
});

it('a wrong argument is a result that the model reads', async () => {
  const { client, close } = await startShop({ providers }, { era: 'legacy' });
  const result = await client.callTool({
    name: 'search',
    arguments: { limit: 100 },
  });
  checkOutput('wrong-argument.txt', result);
  await close();
});

it('a class becomes a JSON Schema', async () => {
  const { client, close } = await startShop({ providers });
  const { tools } = await client.listTools();
  checkOutput(
    'input-schema.txt',
    tools.find(({ name }) => name === 'search')?.inputSchema,
  );
  await close();
});
