import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { backendModule } from './backend-app.js';
import { connect, EVERYTHING, listen, outcomeOf, startGateway } from './support.js';

@Injectable()
class Shop {
  @Tool()
  search() {
    return 'of the shop';
  }
}

it('a gateway fills a page across its backends, and resumes at a cursor', async () => {
  const shop = await listen(backendModule('Shop', false, {}, [Shop]));
  const gateway = await startGateway({ backends: { shop: { url: shop.url }, all: EVERYTHING } });
  const client = await connect(gateway.url, 'modern');
  const first = await client.request({ method: 'tools/list' });
  expect(first.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['shop_search', 'all_echo']));
  expect(first.nextCursor).toBeUndefined();
  const cursor = Buffer.from('[1,null]').toString('base64url');
  const second = await client.request({ method: 'tools/list', params: { cursor } });
  expect(second.tools.map(({ name }) => name)).toEqual(first.tools.slice(1).map(({ name }) => name));
  for (const cursor of ['nothing', Buffer.from('[9,null]').toString('base64url')]) {
    expect(await outcomeOf(client.request({ method: 'tools/list', params: { cursor } }))).toMatchObject({
      code: -32602,
      message: 'Unknown cursor',
    });
  }
  await client.close();
  await gateway.app.close();
  await shop.app.close();
});
