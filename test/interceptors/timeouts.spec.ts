import { Injectable } from '@nestjs/common';
import { InterceptorChainRunner, Tool, Validator } from 'nestjs-mcp';
import { startApp } from '../fixtures/matrix.js';
import { StubHost, validator } from './remote/stub-host.js';

@Injectable()
class Shop {
  @Tool()
  open() {
    return 'open';
  }
}

@Injectable()
class Hangs {
  @Validator({ name: 'far', events: ['tools/call'], timeoutMs: 20 })
  hang() {
    return new Promise<boolean>(() => undefined);
  }
}

it('an interceptor of another host that ran out of time there is told of as a local one is', async () => {
  const host = await startApp([Hangs], {
    mcp: { interceptors: { expose: true, apply: false }, capabilities: { tools: true } },
  });
  const overrides = { far: { timeoutMs: 5000 } };
  const test = await startApp([Shop], {
    mcp: { interceptors: { servers: [{ name: 'rules', url: await host.url() }], overrides } },
  });
  const client = await test.client();
  await expect(client.callTool({ name: 'open' })).rejects.toMatchObject({
    data: { validationErrors: [{ interceptor: 'far', message: 'Interceptor execution timeout' }] },
  });
  const result = await test.app.get(InterceptorChainRunner).run('tools/call', 'request', { name: 'open' });
  expect(result).toMatchObject({
    status: 'validation_failed',
    results: [{ interceptor: 'far', outcome: 'timeout' }],
    abortedAt: { type: 'timeout' },
  });
  await test.close();
  await host.close();
});

it('another error of a host is none of time, whatever its code', async () => {
  const failing = () => {
    throw Object.assign(new Error('too many requests'), { code: -32000 });
  };
  const host = new StubHost('rules', [validator('far', failing)]);
  const test = await startApp([Shop], { mcp: { interceptors: { servers: [host.with()] } } });
  const { results } = await test.app
    .get(InterceptorChainRunner)
    .run('tools/call', 'request', { name: 'open' });
  expect(results).toMatchObject([{ interceptor: 'far', outcome: 'crash' }]);
  await test.close();
});
