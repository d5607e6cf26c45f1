import type { Client } from '@modelcontextprotocol/client';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { createTestClient } from 'nestjs-mcp/testing';
import { ShopModule } from './controllers.js';
import { checkOutput } from './support.js';

// What docs/controllers.md says.
let app: INestApplication;
let client: Client;

beforeAll(async () => {
  const testing = await Test.createTestingModule({
    imports: [ShopModule],
  }).compile();
  app = testing.createNestApplication();
  client = await createTestClient(app, { headers: { 'x-user': 'ada' } });
});

afterAll(async () => {
  await client.close();
  await app.close();
});

const call = async (name: string, args: Record<string, unknown>) => {
  const { content } = await client.callTool({ name, arguments: args });
  return (content as { text: string }[])[0].text;
};

it('a route is a tool with one flat input', async () => {
  const { tools } = await client.listTools();
  const cancel = tools.find(({ name }) => name === 'cancel');
  checkOutput('route-tool.txt', cancel);
});

it('the tool makes the decision of the route', async () => {
  const args = { id: 1, reason: 'Ordered twice', notify: true };
  expect(JSON.parse(await call('cancel', args))).toEqual({
    id: 1,
    owner: 'ada',
    state: 'cancelled',
    reason: 'Ordered twice',
    notify: true,
  });
  await expect(call('cancel', { ...args, id: 2 })).rejects.toThrow('Forbidden');
  expect(await call('cancel', { ...args, reason: 'x' })).toMatch(/reason/);
});

it('"routes" makes tools and resources of the named controllers', async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual([
    'archive',
    'cancel',
    'products_find',
    'products_list',
    'rename',
  ]);
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    'route://products/{id}',
  ]);
});

it('parameters of equal names get others', async () => {
  expect(await call('rename', { noteId: 'a', newId: 'b' })).toBe(
    'Note a is now b',
  );
  expect(await call('archive', { id: 'a' })).toBe('Note a is archived');
});
