import { Body, Controller, Injectable, Post, Req, type RawBodyRequest } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { platforms, startApp } from '../../../test/fixtures/matrix.js';

@Injectable()
class Tools {
  @Tool()
  ping() {
    return 'pong';
  }
}

@Controller('hooks/mcp')
class Hooks {
  @Post()
  hook(@Body() body: unknown, @Req() request: RawBodyRequest<object>) {
    return { body, hasBody: body !== undefined, raw: request.rawBody?.toString() };
  }
}

@Controller('t')
class Tenants {
  @Post('health')
  health(@Body() body: unknown) {
    return { hasBody: body !== undefined };
  }
}

const json = { 'content-type': 'application/json' };

describe.each(platforms())('on %s', platform => {
  it('a route that ends like the endpoint keeps its own body parser', async () => {
    const test = await startApp([Tools], {
      platform,
      module: { controllers: [Hooks] },
      mcp: { http: { maxBodyBytes: 10 } },
    });
    const url = await test.url('/hooks/mcp');
    const answer = await fetch(url, { method: 'POST', body: '{"long":"more than ten"}', headers: json });
    expect(await answer.json()).toMatchObject({ body: { long: 'more than ten' } });
    expect((await fetch(url, { method: 'POST', body: '{', headers: json })).status).toBe(400);
    await test.close();
  });

  it.each(['{', `{"a":${'['.repeat(600)}${']'.repeat(600)}}`])(
    'a route that a parameter of the endpoint fits is not called without its body: %s',
    async body => {
      const test = await startApp([Tools], {
        platform,
        module: { controllers: [Tenants] },
        mcp: { http: { path: '/t/:tenant' } },
      });
      const answer = await fetch(await test.url('/t/health'), { method: 'POST', body, headers: json });
      expect(await answer.text()).not.toContain('"hasBody":false');
      await test.close();
    },
  );

  it.each(['http://[', 'a b', 'x@localhost'])('the Host header %s is a client’s mistake', async host => {
    const { request } = await import('node:http');
    const test = await startApp([Tools], { platform });
    const { port } = new URL(await test.url());
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request(
        { port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers: { ...json, host } },
        answer => {
          answer.resume();
          resolve(answer.statusCode);
        },
      )
        .on('error', reject)
        .end('{}');
    });
    expect([400, 403]).toContain(status);
    await test.close();
  });

  it('the test client finds the endpoint behind prefixes, exclusions and versions', async () => {
    const test = await startApp([Tools], {
      platform,
      configure: app => app.setGlobalPrefix('api', { exclude: ['mcp'] }),
    });
    const client = await test.client();
    expect((await client.listTools()).tools).toHaveLength(1);
    await test.close();
  });
});
