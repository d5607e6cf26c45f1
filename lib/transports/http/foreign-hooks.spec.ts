import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { startApp } from '../../../test/fixtures/matrix.js';

@Injectable()
class Tools {
  @Tool()
  ping() {
    return 'pong';
  }
}

const BODY = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

const seen = ({ headers, raw }: FastifyRequest) => ({
  type: headers['content-type'],
  length: headers['content-length'],
  isRead: raw.readableEnded,
});

it('hooks of a Fastify application see the request as it came', async () => {
  const views: Record<string, ReturnType<typeof seen>> = {};
  const test = await startApp([Tools], {
    platform: 'fastify',
    mcp: { legacy: 'stateless' },
    configure(app) {
      const fastify: FastifyInstance = app.getHttpAdapter().getInstance();
      fastify.addHook('onRequest', async request => void (views['onRequest'] = seen(request)));
      fastify.addHook('preParsing', async request => void (views['preParsing'] = seen(request)));
      fastify.addHook('preValidation', async request => void (views['preValidation'] = seen(request)));
      fastify.addHook('preHandler', async request => void (views['preHandler'] = seen(request)));
    },
  });
  const answer = await fetch(await test.url(), { method: 'POST', headers: HEADERS, body: BODY });
  expect(await answer.text()).toContain('"result":{}');
  const content = { type: 'application/json', length: String(BODY.length) };
  expect(views).toEqual({
    onRequest: { ...content, isRead: false },
    preParsing: { ...content, isRead: false },
    preValidation: { ...content, isRead: true },
    preHandler: { ...content, isRead: true },
  });
  await test.close();
});

it('a DELETE with a content type and no body ends its session', async () => {
  const test = await startApp([Tools], { platform: 'fastify' });
  const url = await test.url();
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const opened = await fetch(url, { method: 'POST', headers: HEADERS, body });
  await opened.text();
  const session = { ...HEADERS, 'mcp-session-id': String(opened.headers.get('mcp-session-id')) };
  expect((await fetch(url, { method: 'DELETE', headers: session })).status).toBe(200);
  await test.close();
});
