import { Logger } from '@nestjs/common';
import { join } from 'node:path';
import { SecretRules } from './policy.js';
import { CatalogTools } from './start/catalog.tools.js';
import { checkOutput, startShop } from './support.js';

const providers = [CatalogTools, SecretRules];
const call = { name: 'search', arguments: { query: 'secret' } };

it('in audit mode, the log says what would happen', async () => {
  const log = jest.spyOn(Logger.prototype, 'log');
  const logged = new Promise(resolve => {
    log.mockImplementation(line => /audit/.test(line) && resolve(line));
  });
  const { client, close } = await startShop({ providers });
  expect((await client.callTool(call)).isError).toBeUndefined();
  checkOutput('audit.txt', await logged);
  await close();
  log.mockRestore();
});

it('the policy file makes it act', async () => {
  const policyFile = join(__dirname, 'policy.yaml');
  const { client, close } = await startShop(
    { providers },
    {},
    { interceptors: { policyFile } },
  );
  await expect(client.callTool(call)).rejects.toMatchObject({ code: -32602 });
  await close();
});
