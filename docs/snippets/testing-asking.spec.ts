import { Test } from '@nestjs/testing';
import { McpModule, type McpContext } from 'nestjs-mcp';
// #region imports
import { createTestClient, replayRounds } from 'nestjs-mcp/testing';
// #endregion imports
import { DeployTools } from './asking.js';
import { Deployments, Planner } from './shop.js';

const testing = () =>
  Test.createTestingModule({
    imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })],
    providers: [DeployTools, Deployments, Planner],
  }).compile();

// #region answers
it.each(['modern', 'legacy'] as const)('asks a %s client', async era => {
  const app = (await testing()).createNestApplication();
  const client = await createTestClient(app, {
    era,
    onElicit: () => ({ action: 'accept', content: { name: 'eu' } }),
  });
  const result = await client.callTool({
    name: 'planned',
    arguments: { service: 'shop' },
  });
  expect(result.content).toEqual([{ type: 'text', text: 'shop runs in eu' }]);
  await client.close();
  await app.close();
});
// #endregion answers

it('asks the same in each round', async () => {
  const tools = (await testing()).get(DeployTools);
  // #region rounds
  const { result, rounds } = await replayRounds(
    (ctx: McpContext) => tools.planned({ service: 'shop' }, ctx),
    { region: { action: 'accept', content: { name: 'eu' } } },
  );
  expect(result).toBe('shop runs in eu');
  expect(rounds).toHaveLength(1);
  // #endregion rounds
});
