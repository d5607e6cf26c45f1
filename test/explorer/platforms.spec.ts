import { Injectable } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Args, Tool } from 'nestjs-mcp';
import { startExplored, type ExploredApp } from './explored-app.js';

@Injectable()
class Sizes {
  @Tool({ annotations: { readOnlyHint: true } })
  size(@Args('text') text: string) {
    return String(text.length);
  }
}

describe.each([
  ['Express', () => new ExpressAdapter()],
  ['Fastify', () => new FastifyAdapter()],
] as const)('on %s', (_name, adapter) => {
  let app: ExploredApp;

  beforeAll(async () => {
    app = await startExplored([Sizes], { adapter: adapter() });
    await app.url();
  });
  afterAll(() => app.close());

  it.each(['/mcp-explorer', '/mcp-explorer/'])('%s is or leads to the page', async path => {
    const { status, headers, text } = await app.get(path);
    const page =
      status === 308
        ? await app.get(new URL(String(headers['location']), `http://x${path}`).pathname)
        : { text };
    expect(page.text).toContain('<title>MCP explorer</title>');
  });

  it('takes arguments of half a megabyte', async () => {
    const text = 'a'.repeat(512 * 1024);
    const { status, json } = await app.post('/mcp-explorer/api/call', {
      server: 'test',
      caller: { kind: 'anonymous' },
      method: 'tools/call',
      params: { name: 'size', arguments: { text } },
    });
    expect([status, json.result?.value.content]).toEqual([
      200,
      [{ type: 'text', text: String(text.length) }],
    ]);
  });

  it('has no page below the page', async () => {
    expect((await app.get('/mcp-explorer/a/b')).status).toBe(404);
  });
});
