import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Injectable } from '@nestjs/common';
import { Args, Tool } from 'nestjs-mcp';
import { z } from 'zod';
import { anyPlatform, startApp } from '../../fixtures/matrix.js';
import { soakSize } from '../../fixtures/soak.js';

const CALLS = soakSize(500_000, 5_000);
const PARTS = 5;
const CLIENTS = 16;

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

@Injectable()
class Tools {
  @Tool({ inputSchema: z.object({ text: z.string() }) })
  echo(@Args('text') said: string) {
    return said;
  }
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'soak', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' };

const heapUsed = (): number => {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
};
const timers = (): number => process.getActiveResourcesInfo().filter(kind => kind === 'Timeout').length;

describe.each(anyPlatform())('many calls on %s', platform => {
  it.each(['modern', 'legacy'])(
    'of the %s era leave nothing behind',
    async era => {
      const test = await startApp([Tools], { platform });
      const url = await test.url();
      const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
      const send = (body: object, headers: Record<string, string> = {}) =>
        new Promise<{ text: string; session: string }>((resolve, reject) => {
          const sending = request(
            url,
            { method: 'POST', agent, headers: { ...HEADERS, ...headers } },
            answer => {
              const session = String(answer.headers['mcp-session-id']);
              text(answer).then(said => resolve({ text: said, session }), reject);
            },
          );
          sending.once('error', reject).end(JSON.stringify({ jsonrpc: '2.0', ...body }));
        });

      let headers: Record<string, string> = MODERN;
      if (era === 'legacy') {
        const clientInfo = { name: 'soak', version: '1' };
        const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
        const { session } = await send({ id: 'first', method: 'initialize', params });
        headers = { 'mcp-session-id': session };
      }
      let id = 0;
      const call = async () => {
        const said = `call ${++id}`;
        const params = { name: 'echo', arguments: { text: said }, ...(era === 'modern' && { _meta: META }) };
        const answer = await send({ id, method: 'tools/call', params }, headers);
        if (!answer.text.includes(said)) throw new Error(answer.text);
      };
      const part = async () => {
        const calls = Array.from({ length: CLIENTS }, async () => {
          for (let count = 0; count < CALLS / PARTS / CLIENTS; count += 1) await call();
        });
        await Promise.all(calls);
        return heapUsed();
      };

      await part();
      const before = { heap: heapUsed(), timers: timers() };
      const heaps: number[] = [];
      for (let index = 1; index < PARTS; index += 1) heaps.push(await part());
      // A call that left 20 bytes would leave 8 MB.
      expect(Math.min(...heaps.slice(-2))).toBeLessThan(before.heap + 3_000_000);
      expect(timers()).toBeLessThanOrEqual(before.timers + 1);
      agent.destroy();
      await test.close();
    },
    900_000,
  );
});
