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

it('a gateway composes the cursors of its backends', async () => {
  const shop = await listen(backendModule('Shop', false, {}, [Shop]));
  const gateway = await startGateway({ backends: { shop: { url: shop.url }, all: EVERYTHING } });
  const client = await connect(gateway.url, 'modern');
  const first = await client.request({ method: 'tools/list' });
  expect(first.tools.map(({ name }) => name)).toEqual(['shop_search']);
  const second = await client.request({ method: 'tools/list', params: { cursor: first.nextCursor } });
  expect(second.tools.map(({ name }) => name)).toContain('all_echo');
  expect(second.nextCursor).toBeUndefined();
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
