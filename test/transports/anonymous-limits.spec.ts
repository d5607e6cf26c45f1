import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { HEADER_GUARD, HeldTools, INITIALIZE, sendAs } from '../fixtures/limits.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';

interface Setting {
  readonly name: string;
  readonly trusting: () => AbstractHttpAdapter;
  readonly wary: () => AbstractHttpAdapter;
}

const SETTINGS: Setting[] = [
  {
    name: 'Express',
    trusting: () => {
      const adapter = new ExpressAdapter();
      adapter.set('trust proxy', 'loopback');
      return adapter;
    },
    wary: () => new ExpressAdapter(),
  },
  {
    name: 'Fastify',
    trusting: () => new FastifyAdapter({ trustProxy: 'loopback' }),
    wary: () => new FastifyAdapter(),
  },
];

const behindProxy = (address: string) => ({ 'x-forwarded-for': address });

describe.each(SETTINGS)('anonymous callers on $name', ({ trusting, wary }) => {
  let test: TestApp;
  let log: LogSpy;
  afterEach(() => test.close());

  const start = async (adapter: AbstractHttpAdapter) => {
    log = new LogSpy();
    test = await startApp([HeldTools], {
      adapter,
      mcp: { sessions: { maxPerCaller: 1 } },
      module: { providers: [HEADER_GUARD] },
    });
    test.app.useLogger(log);
  };
  /** The status of a new session. */
  const open = async (headers: Record<string, string> = {}, user?: string) => {
    const answer = await sendAs(test, user, { ...INITIALIZE, headers });
    await answer.json();
    return answer.status;
  };

  it('share the cap of their address, which known callers do not fill', async () => {
    await start(wary());
    expect([await open(), await open()]).toEqual([200, 429]);
    expect([await open({}, 'a'), await open({}, 'a')]).toEqual([200, 429]);
  });

  it('behind a trusted proxy have the address that it names', async () => {
    await start(trusting());
    for (const address of ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8:0:1::1']) {
      expect(await open(behindProxy(address))).toBe(200);
    }
    for (const address of ['192.0.2.1', '::ffff:192.0.2.2', '2001:db8::2', '2001:DB8:0:1:9::']) {
      expect(await open(behindProxy(address))).toBe(429);
    }
    // A client on the host of the proxy.
    expect(await open(behindProxy('127.0.0.1'))).toBe(200);
    expect(log.warnings).toEqual([]);
  });

  it.each([
    ['X-Forwarded-For', behindProxy],
    ['Forwarded', (address: string) => ({ forwarded: `for=${address}` })],
  ])('behind a proxy that is not trusted share one cap, with one warning: %s', async (_, behind) => {
    await start(wary());
    expect(await open(behind('192.0.2.1'))).toBe(200);
    expect(await open(behind('192.0.2.2'))).toBe(429);
    expect(log.warnings).toEqual([expect.stringMatching(/127\.0\.0\.1.*"trust proxy".*"trustProxy"/)]);
  });

  it('are not warned of where the callers of a proxy are known', async () => {
    await start(wary());
    expect(await open(behindProxy('192.0.2.1'), 'a')).toBe(200);
    expect(log.warnings).toEqual([]);
  });
});
