import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { Tool, Validator, type InterceptorInvocation, type McpInterceptorOptions } from 'nestjs-mcp';
import type { InterceptorDescriptor } from 'nestjs-mcp/interceptors';
import { z } from 'zod';
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
    events: ['tools/call', 'prompts/get'],
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

async function shop(policy: string, servers: StubHost[] = [], more: McpInterceptorOptions = {}) {
  writeFileSync(file, policy);
  const said = new Inbox<string>();
  for (const level of ['log', 'warn', 'error'] as const) {
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
        ...more,
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
  ['anything, for it is empty', ''],
  ['anything, for it is nothing but comments', '# config: { gate: { allows: false } }\n'],
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

it('an empty file stops the application at start', async () => {
  await expect(shop('')).rejects.toThrow(/write \{\} for a policy without entries/);
});

const WIDER = 'overrides: { rules/far: { hooks: [{ events: ["*"], phase: request }] } }';

it('one that a host did not admit when it was last listed leaves the old one in force, too', async () => {
  const far = new StubHost('rules', [validator('far')]);
  const { open, said } = await shop('config: { gate: { allows: true } }', [far], { discovery: { ttlMs: 0 } });
  expect(await open()).toBe('open');
  writeFileSync(file, WIDER);
  expect(await said.take()).toMatch(/stays as it was: .* an override can only narrow/);
  expect(await open()).toBe('open');
}, 20_000);

it('one that turns out not to suit a host which was never listed gives way to the old one', async () => {
  const far = new StubHost('rules', [validator('far')]);
  const { open, said } = await shop('config: { gate: { allows: true } }', [far]);
  writeFileSync(file, WIDER);
  expect(await said.take()).toMatch(/has changed/);
  expect(await open()).toBe('open');
  expect(await said.take()).toMatch(/earlier policy is in force again, .* an override can only narrow/);
  expect(await open()).toBe('open');
}, 20_000);

it('what a host advertises later does not bring an old policy back', async () => {
  const far = new StubHost('rules', [validator('far')]);
  const { open, said } = await shop('config: { gate: { allows: true } }', [far]);
  writeFileSync(file, 'overrides: { far: { hooks: [{ events: [tools/call], phase: response }] } }');
  expect(await said.take()).toMatch(/has changed/);
  expect(await open()).toBe(-32602);
  far.interceptors.splice(
    0,
    1,
    validator('far', undefined, { hooks: [{ events: ['*'], phase: 'request' }] }),
  );
  far.change();
  expect(await open()).toBe(-32603);
}, 20_000);

describe('a policy for an interceptor is laid over it field by field', () => {
  it('by name, and by host/name where that says more', async () => {
    const far = new StubHost('rules', [validator('far', () => ({ valid: false }), { mode: 'audit' })]);
    const { open } = await shop(
      'overrides: { rules/far: { timeoutMs: 500 } }\nconfig: { gate: { allows: true } }',
      [far],
      { overrides: { far: { mode: 'active' } } },
    );
    expect(await open()).toBe(-32602);
    expect(far.invoked[0].timeoutMs).toBeLessThanOrEqual(500);
  });

  it('by host/name before name', async () => {
    const far = new StubHost('rules', [validator('far', () => ({ valid: false }))]);
    const { open } = await shop(
      'overrides: { far: { mode: active }, rules/far: { mode: audit } }\nconfig: { gate: { allows: true } }',
      [far],
    );
    expect(await open()).toBe('open');
  });

  it('and by what the file says, under whichever name, before what the code says', async () => {
    const far = new StubHost('rules', [validator('far', () => ({ valid: false }))]);
    const { open } = await shop(
      'overrides: { far: { mode: active } }\nconfig: { gate: { allows: true } }',
      [far],
      { overrides: { 'rules/far': { mode: 'audit' } } },
    );
    expect(await open()).toBe(-32602);
  });
});

describe('interceptors served to others follow the policy', () => {
  const anything = z.looseObject({});
  const exposed = async () => {
    const client = await test!.client();
    const params = { name: 'gate', event: 'tools/call', phase: 'request', payload: { name: 'a' } };
    const { valid } = await client
      .request({ method: 'interceptor/invoke', params }, anything)
      .catch(({ code }: { code: number }) => ({ valid: code }));
    const { interceptors } = await client.request({ method: 'interceptors/list' }, anything);
    const [{ hooks, mode }] = interceptors as InterceptorDescriptor[];
    const { 'io.modelcontextprotocol/interceptors': capability } =
      client.getServerCapabilities()?.extensions ?? {};
    return { valid, events: hooks[0].events, mode, capability };
  };
  const events = ['tools/call', 'prompts/get'];
  const declared = { valid: true, events, mode: undefined, capability: { supportedEvents: events } };

  it('as it changes with its file', async () => {
    const { said } = await shop('config: { gate: { allows: true } }', [], { expose: true });
    expect(await exposed()).toEqual(declared);
    writeFileSync(file, 'overrides: { gate: { mode: audit } }\nconfig: { gate: { allows: false } }');
    expect(await said.take()).toMatch(/has changed/);
    expect(await exposed()).toEqual({ ...declared, valid: false, mode: 'audit' });
    writeFileSync(file, 'overrides: { gate: { hooks: [{ events: [prompts/get], phase: request }] } }');
    expect(await said.take()).toMatch(/has changed/);
    expect(await exposed()).toEqual({
      valid: -32602,
      events: ['prompts/get'],
      capability: { supportedEvents: ['prompts/get'] },
    });
  }, 20_000);

  it('and as it gives way to the old one', async () => {
    const far = new StubHost('rules', [validator('far')]);
    const { open, said } = await shop('config: { gate: { allows: true } }', [far], { expose: true });
    writeFileSync(file, WIDER.replace('overrides: {', 'overrides: { gate: { mode: audit },'));
    expect(await said.take()).toMatch(/has changed/);
    expect(await open()).toBe('open');
    expect(await said.take()).toMatch(/earlier policy is in force again/);
    expect(await exposed()).toEqual(declared);
  }, 20_000);
});
