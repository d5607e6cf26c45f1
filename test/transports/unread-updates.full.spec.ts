import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { McpServerRegistry, Resource, ResourceTemplate } from 'nestjs-mcp';
import { startApp } from '../fixtures/matrix.js';

const LONG = `state://${'a'.repeat(4000)}`;
const LAST = 'state://last';
const UPDATES = 10_000;

@Injectable()
class State {
  @Resource({ uri: LAST })
  last() {
    return 'last';
  }

  @ResourceTemplate({ uriTemplate: 'state://{name}' })
  state() {
    return 'on';
  }
}

/** A request whose answer is not read until it is told to. */
async function open(url: URL, head: string[], body = ''): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname).setEncoding('utf8');
  await once(socket, 'connect');
  const lines = ['host: 127.0.0.1', 'accept: application/json, text/event-stream', ...head];
  const length = body === '' ? [] : ['content-type: application/json', `content-length: ${body.length}`];
  socket.write([`${body === '' ? 'GET' : 'POST'} /mcp HTTP/1.1`, ...lines, ...length, '', body].join('\r\n'));
  if (body === '') socket.write('\r\n');
  return socket;
}

/** Opens a session that is subscribed to both resources. @returns its headers */
async function session(url: URL): Promise<string[]> {
  const send = async (message: object, headers: Record<string, string> = {}) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
    await response.text();
    return response.headers.get('mcp-session-id')!;
  };
  const clientInfo = { name: 'raw', version: '1' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const headers = {
    'mcp-session-id': await send({ id: 1, method: 'initialize', params }),
    'mcp-protocol-version': '2025-11-25',
  };
  await send({ method: 'notifications/initialized' }, headers);
  for (const [id, uri] of [LONG, LAST].entries()) {
    await send({ id: id + 2, method: 'resources/subscribe', params: { uri } }, headers);
  }
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}

async function readUntil(socket: Socket, text: string): Promise<string> {
  const chunks: string[] = [];
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    chunks.push(String(chunk));
    if (chunks.slice(-2).join('').includes(text)) break;
  }
  return chunks.join('');
}

describe('a client that does not read updates of resources', () => {
  it.each(['listens, 2026-07-28', 'has a session, 2025-11-25'])('%s: is kept few of them', async kind => {
    const test = await startApp([State]);
    const url = new URL(await test.url());
    const registry = test.app.get(McpServerRegistry);
    const listen = {
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: {
        notifications: { resourceSubscriptions: [LONG, LAST] },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    };
    let socket: Socket;
    if (kind.startsWith('listens')) {
      const head = ['mcp-protocol-version: 2026-07-28', 'mcp-method: subscriptions/listen'];
      socket = await open(url, head, JSON.stringify(listen));
    } else {
      socket = await open(url, await session(url));
    }
    await readUntil(socket, '\r\n\r\n');
    socket.pause();
    for (let count = 0; count < UPDATES; count++) {
      registry.resourceUpdated(LONG);
      if (count % 10 === 0) await nextTurn();
    }
    const update = `"uri":"${LONG}"`;
    const reading = readUntil(socket, `"uri":"${LAST}"`);
    await nextTurn();
    // Told of once the client has caught up.
    const timer = setInterval(() => registry.resourceUpdated(LAST), 5);
    const count = (await reading).split(update).length - 1;
    clearInterval(timer);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(UPDATES / 2);
    socket.destroy();
    await test.close();
  });
});
