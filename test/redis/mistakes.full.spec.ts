import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpModule } from 'nestjs-mcp';
import { McpRedisModule, type McpRedisOptions } from 'nestjs-mcp/redis';
import { send } from '../fixtures/raw-client.js';
import { LogLines } from './log-lines.js';
import { Limit, Shop, SINGLE_USE, YES } from './shop.js';

const PASSWORD = 'hunter-2';

const moduleWith = (options: McpRedisOptions): Type => {
  @Module({
    imports: [
      McpModule.forRoot({ name: 'shop', version: '1.0.0', mrtr: SINGLE_USE }),
      McpRedisModule.forRootAsync({ useFactory: async () => options }),
    ],
    providers: [Shop, Limit],
  })
  class AppModule {}
  return AppModule;
};

describe('McpRedisModule', () => {
  it.each<[object | undefined, string]>([
    [undefined, 'options must be'],
    [{}, 'one of "url", "client", "cluster" and "sentinel" must be given'],
    [
      { url: 'redis://localhost', cluster: {} },
      'one of "url", "client", "cluster" and "sentinel" must be given',
    ],
    [{ sentinel: { name: 'shop' } }, 'the package "redis" does not understand "sentinel"'],
    [{ cluster: {} }, 'the package "redis" does not understand "cluster"'],
    [
      { client: { url: `redis://:${PASSWORD}%@localhost` } },
      'the package "redis" does not understand "client"',
    ],
    [{ url: `http://:${PASSWORD}@localhost` }, '"url" must be a URL with redis or rediss'],
    [{ url: `:${PASSWORD}@localhost` }, '"url" must be a URL with redis or rediss'],
    [{ url: `redis://:${PASSWORD}%@localhost` }, 'the package "redis" does not understand "url"'],
    [{ url: 'redis://localhost', prefix: '' }, '"prefix" must be'],
    [{ url: 'redis://localhost', commandTimeoutMs: 0 }, '"commandTimeoutMs" must be'],
    [{ url: 'redis://localhost', host: 'localhost' }, 'unknown option "host"'],
  ])('refuses %j at start, and does not repeat it', async (options, said) => {
    const log = new LogLines();
    const starting = NestFactory.createApplicationContext(moduleWith(options as McpRedisOptions), {
      logger: log,
      abortOnError: false,
    });
    await expect(starting).rejects.toThrow(`McpRedisModule: ${said}`);
    await expect(starting).rejects.not.toThrow(PASSWORD);
    expect(log.lines.join()).not.toContain(PASSWORD);
  });

  it('says that the package is missing', async () => {
    jest.doMock('redis', () => {
      throw new Error("Cannot find module 'redis'");
    });
    const starting = NestFactory.createApplicationContext(moduleWith({ url: 'redis://localhost' }), {
      logger: false,
      abortOnError: false,
    });
    await expect(starting).rejects.toThrow(
      'McpRedisModule: the package "redis" cannot be loaded; install it',
    );
    jest.dontMock('redis');
  });

  it('starts where nothing answers, with one warning, and refuses what needs Redis', async () => {
    // Accepts connections, and says nothing.
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const log = new LogLines();
    const url = `redis://:${PASSWORD}@127.0.0.1:${port}`;
    const app = await NestFactory.create(moduleWith({ url, connectTimeoutMs: 50 }), {
      logger: log,
      abortOnError: false,
    });
    await app.listen(0, '127.0.0.1');
    const endpoint = `${await app.getUrl()}/mcp`;
    const started = await send(endpoint, { name: 'buy' });
    const answer = { requestState: started.result!.requestState, inputResponses: YES };
    expect((await send(endpoint, { name: 'buy', ...answer })).error?.code).toBe(-32000);
    const limited = [];
    for (let call = 0; call < 3; call++)
      limited.push((await send(endpoint, { name: 'limited' })).error?.code);
    expect(limited).toEqual([undefined, undefined, -32602]);
    expect((await send(endpoint, { name: 'hello' })).result).toMatchObject({ content: [{ text: 'hello' }] });
    await app.close();
    silent.close();
    expect(log.lines.filter(line => line.includes('Redis is not available'))).toHaveLength(1);
    expect(log.lines.join()).not.toContain(PASSWORD);
  });
});
