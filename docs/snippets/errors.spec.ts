import {
  Catch,
  Injectable,
  Logger,
  Module,
  UseFilters,
  type ExceptionFilter,
  type INestApplication,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { Client } from '@modelcontextprotocol/client';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { Args, McpModule, Tool } from 'nestjs-mcp';
import { createTestClient } from 'nestjs-mcp/testing';
import { CatalogTools } from './errors.js';
import { ProductService } from './shop.js';

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

@Module({
  imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })],
  providers: [ProductService, CatalogTools, OrderTools, BrokenTools],
})
class AppModule {}

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

// #region answers
it('an HttpException is a result that the model reads', async () => {
  expect(
    await client.callTool({ name: 'product', arguments: { id: '9' } }),
  ).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: 'There is no product 9' }],
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
  expect(await client.callTool({ name: 'broken' })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^Internal error \(reference /) }],
  });
  log.mockRestore();
});
