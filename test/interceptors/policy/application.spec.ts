import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { Tool, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { Inbox } from '../../fixtures/inbox.js';
import { startApp, textOf, type TestApp } from '../../fixtures/matrix.js';
import { StubHost, validator } from '../remote/stub-host.js';

@Injectable()
class Shop {
  @Tool()
  open() {
    return 'open';
  }

  @Validator({
    events: ['tools/call'],
    configSchema: { type: 'object', properties: { allows: { type: 'boolean' } } },
  })
  gate({ config }: InterceptorInvocation) {
    return config?.['allows'] === true;
  }
}

let folder: string;
let file: string;
let test: TestApp | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'policy-'));
  file = join(folder, 'policy.yaml');
});
afterEach(async () => {
  await test?.close();
  rmSync(folder, { recursive: true });
  jest.restoreAllMocks();
});

async function shop(policy: string, servers: StubHost[] = []) {
  writeFileSync(file, policy);
  const said = new Inbox<string>();
  for (const level of ['log', 'error'] as const) {
    jest.spyOn(Logger.prototype, level).mockImplementation((...[message]: unknown[]) => {
      if (String(message).includes('olicy')) said.put(String(message));
    });
  }
  test = await startApp([Shop], {
    mcp: {
      interceptors: {
        policyFile: file,
        config: { gate: { allows: false } },
        servers: servers.map(server => server.with()),
      },
    },
  });
  const client = await test.client();
  const open = () => client.callTool({ name: 'open' }).then(textOf, ({ code }: { code: number }) => code);
  return { open, said };
}

it('the configuration of a policy file wins over that in the code, and changes with the file', async () => {
  const { open, said } = await shop('config: { gate: { allows: true } }');
  expect(await open()).toBe('open');
  writeFileSync(file, 'config: { gate: { allows: false } }');
  expect(await said.take()).toMatch(/has changed/);
  expect(await open()).toBe(-32602);
}, 20_000);

it.each([
  ['a local interceptor', 'config: { gate: { allows: 7 } }'],
  ['an interceptor of a host that is known', 'overrides: { far: { config: { limit: many } } }'],
  ['the shape of a policy', 'nonsense: true'],
])(
  'one that does not suit %s leaves the old one in force',
  async (_whom, changed) => {
    const schema = { type: 'object', properties: { limit: { type: 'number' } } };
    const far = new StubHost('rules', [validator('far', undefined, { configSchema: schema })]);
    const { open, said } = await shop('config: { gate: { allows: true } }', [far]);
    expect(await open()).toBe('open');
    writeFileSync(file, changed);
    expect(await said.take()).toMatch(/stays as it was/);
    expect(await open()).toBe('open');
  },
  20_000,
);
