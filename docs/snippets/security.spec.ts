import { Test } from '@nestjs/testing';
import { OrdersModule } from './security.js';

it('an unknown caller gets HTTP 401', async () => {
  const testing = Test.createTestingModule({ imports: [OrdersModule] });
  const app = (await testing.compile()).createNestApplication();
  await app.listen(0, '127.0.0.1');
  const response = await fetch(`${await app.getUrl()}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  });
  expect(response.status).toBe(401);
  await app.close();
});
