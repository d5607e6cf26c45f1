import { Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { McpModule } from 'nestjs-mcp';
import { createTestClient, jsonOf, textOf } from 'nestjs-mcp/testing';
import {
  AuditTrail,
  CustomerTools,
  PlanLimit,
  Uploads,
  UploadsController,
} from './cookbook.js';
import { startShop } from './support.js';

it('a file is uploaded beside MCP, and imported by a tool', async () => {
  const testing = await Test.createTestingModule({
    imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })],
    controllers: [UploadsController],
    providers: [Uploads],
  }).compile();
  const app = testing.createNestApplication();
  const client = await createTestClient(app);
  const { id, url } = jsonOf(await client.call(Uploads, 'openUpload'));
  const early = await client.call(Uploads, 'importProducts', { id });
  expect(textOf(early)).toContain('There is no file yet');
  const path = new URL(url).pathname;
  const sent = await fetch(`${await app.getUrl()}${path}`, {
    method: 'PUT',
    headers: { 'content-type': 'text/csv' },
    body: 'lamp\nchair\n',
  });
  expect(sent.status).toBe(200);
  const imported = await client.callTool({
    name: 'importProducts',
    arguments: { id },
  });
  expect(textOf(imported)).toBe('2 products');
  await client.close();
  await app.close();
});

it('a call without a plan costs as much as one of a free plan', async () => {
  const shop = await startShop({ providers: [Uploads, PlanLimit] });
  const outcomes: boolean[] = [];
  for (let call = 0; call < 7; call++) {
    outcomes.push(
      await shop.client.call(Uploads, 'openUpload').then(
        () => true,
        () => false,
      ),
    );
  }
  expect(outcomes).toEqual([true, true, true, true, true, true, false]);
  await shop.close();
});

it.each([
  [true, 'ada was deleted'],
  [false, 'Nothing was deleted'],
])('approved: %s, and the trail has it', async (approved, outcome) => {
  const log = jest.spyOn(Logger.prototype, 'log').mockImplementation();
  const shop = await startShop(
    { providers: [CustomerTools, AuditTrail] },
    { onElicit: () => ({ action: 'accept', content: { approved } }) },
  );
  const result = await shop.client.callTool({
    name: 'deleteCustomer',
    arguments: { name: 'ada' },
  });
  expect(textOf(result)).toBe(outcome);
  await shop.close();
  expect(log).toHaveBeenCalledWith('anonymous: deleteCustomer done');
  log.mockRestore();
});
