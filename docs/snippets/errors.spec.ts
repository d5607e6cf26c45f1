import {
  Catch,
  Injectable,
  Logger,
  UseFilters,
  type ExceptionFilter,
} from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { Args, Tool } from 'nestjs-mcp';
import { CatalogTools } from './errors.js';
import { ProductService } from './shop.js';
import { checkOutput, startShop } from './support.js';

// #region filter
class OutOfStock extends Error {}

@Catch(OutOfStock)
class OutOfStockFilter implements ExceptionFilter<OutOfStock> {
  // The value that a filter returns is the result of the tool.
  catch(error: OutOfStock): CallToolResult {
    const text = `${error.message} is sold out: offer something else`;
    return { isError: true, content: [{ type: 'text', text }] };
  }
}

@Injectable()
class OrderTools {
  @Tool()
  @UseFilters(OutOfStockFilter)
  order(@Args('product') product: string): string {
    throw new OutOfStock(product);
  }
}
// #endregion filter

@Injectable()
class BrokenTools {
  @Tool()
  broken() {
    throw new Error('password of the database');
  }
}

let shop: Awaited<ReturnType<typeof startShop>>;
let client: Client;

beforeAll(async () => {
  const providers = [ProductService, CatalogTools, OrderTools, BrokenTools];
  shop = await startShop({ providers }, { era: 'legacy' });
  ({ client } = shop);
});

afterAll(() => shop.close());

// #region answers
it('an HttpException is a result that the model reads', async () => {
  expect(
    await client.callTool({ name: 'product', arguments: { id: '9' } }),
  ).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: 'Product 9 does not exist' }],
  });
});

it('an McpException is an error of the protocol', async () => {
  await expect(
    client.callTool({ name: 'remove', arguments: { id: '1' } }),
  ).rejects.toMatchObject({ code: -32602, message: 'Read only' });
});
// #endregion answers

it('a filter answers', async () => {
  expect(
    await client.callTool({ name: 'order', arguments: { product: 'lamp' } }),
  ).toMatchObject({
    isError: true,
    content: [{ text: 'lamp is sold out: offer something else' }],
  });
});

it('an unexpected error is a reference', async () => {
  const log = jest.spyOn(Logger.prototype, 'error').mockImplementation();
  const result = await client.callTool({ name: 'broken' });
  log.mockRestore();
  const reference = /(?<=reference )[\w-]+/;
  expect(JSON.stringify(result)).toMatch(reference);
  // Each error has another reference.
  const text = JSON.stringify(result, undefined, 2);
  checkOutput(
    'reference.txt',
    text.replace(reference, '3f9a2c71-5d0e-4b8a-9c46-1e7f20b6a9d3'),
  );
});
