import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect as connectTo } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { Inbox } from '../../../test/fixtures/inbox.js';
import { EventStream, MAX_UNREAD_BYTES } from './event-stream.js';
import { backendModule } from '../../../test/gateway/backend-app.js';
import { listen } from '../../../test/gateway/support.js';

const sent = new Inbox<number>();

@Injectable()
class Chatty {
  @Tool()
  async chatter(@Ctx() ctx: McpContext) {
    const text = 'x'.repeat(100_000);
    for (let round = 0; round < 2000; round++) {
      await ctx.reportProgress(round, undefined, text);
      if (round % 10 === 0) await new Promise(resolve => setImmediate(resolve));
    }
    sent.put(process.memoryUsage.rss());
    return 'done';
  }
}

it('a client that does not read has a server keep little for it', async () => {
  const server = await listen(backendModule('chatty', false, {}, [Chatty]));
  const before = process.memoryUsage.rss();
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: 'chatter',
      _meta: {
        progressToken: 1,
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  });
  const socket = connectTo(Number(new URL(server.url).port), '127.0.0.1').pause();
  await once(socket, 'connect');
  socket.write(
    [
      'POST /mcp HTTP/1.1',
      'host: 127.0.0.1',
      'content-type: application/json',
      'accept: application/json, text/event-stream',
      'mcp-protocol-version: 2026-07-28',
      'mcp-method: tools/call',
      'mcp-name: chatter',
      `content-length: ${body.length}`,
      '',
      body,
    ].join('\r\n'),
  );
  // Of the 200 MB that were sent, most are not kept.
  expect((await sent.take()) - before).toBeLessThan(100_000_000);
  socket.destroy();
  await server.app.close();
});

it('a client that reads in time gets every notification', () => {
  const told: string[] = [];
  const response = {
    writableLength: 0,
    writeHead() {},
    flushHeaders() {},
    write: (text: string) => told.push(text),
  };
  const stream = new EventStream(response as unknown as ServerResponse, {}, 0);
  const tell = (index: number) => stream.tell(String(index));
  for (const index of [1, 2, 3, 4]) tell(index);
  response.writableLength = MAX_UNREAD_BYTES;
  tell(5);
  response.writableLength += 1;
  for (const index of [6, 7, 8]) tell(index);
  response.writableLength = 0;
  tell(9);
  expect(told.map(text => Number(/data: (.)/.exec(text)![1]))).toEqual([1, 2, 3, 4, 5, 9]);
});
