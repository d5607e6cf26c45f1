import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { Session } from '../../lib/transports/sessions/session.js';
import { deferred } from '../fixtures/deferred.js';
import { anyPlatform, startApp } from '../fixtures/matrix.js';
import { soakSize } from '../fixtures/soak.js';

const SESSIONS = soakSize(50_000, 1_000);
const CLIENTS = 16;
/** Longer than it takes to open all sessions: they idle together. */
const IDLE_MS = soakSize(120_000, 5_000);

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

@Injectable()
class Tools {
  @Tool()
  ping() {
    return 'pong';
  }
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'soak', version: '1' } },
});

const heapUsed = (): number => {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

it.each(anyPlatform())(
  'sessions that are opened and abandoned leave nothing behind on %s',
  async platform => {
    const ended = deferred();
    let open = 0;
    const { close } = Session.prototype;
    // A spy of Jest would keep what it is called on.
    Session.prototype.close = async function (this: Session) {
      await close.call(this);
      if ((open -= 1) === 0) ended.resolve();
    };
    const sessions = { max: SESSIONS, maxPerAddress: SESSIONS, idleTimeoutMs: IDLE_MS };
    const test = await startApp([Tools], { platform, mcp: { sessions } });
    const url = await test.url();
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    const send = (headers: Record<string, string> = {}) =>
      new Promise<{ status?: number; session?: string }>((resolve, reject) => {
        const sending = request(
          url,
          { method: 'POST', agent, headers: { ...HEADERS, ...headers } },
          answer => {
            const { statusCode: status, headers } = answer;
            text(answer).then(
              () => resolve({ status, session: headers['mcp-session-id'] as string }),
              reject,
            );
          },
        );
        sending.once('error', reject).end(INITIALIZE);
      });
    const openMany = async (count: number) => {
      open += count;
      let left = count;
      let last: string | undefined;
      const client = async () => {
        while (left-- > 0) {
          const { status, session } = await send();
          expect(status).toBe(200);
          last = session;
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      return last;
    };
    await openMany(100);
    const before = heapUsed();
    const last = await openMany(SESSIONS - 100);
    const bytes = (heapUsed() - before) / (SESSIONS - 100);
    console.log(`An idle session takes ${Math.round(bytes)} bytes`);
    await ended.promise;
    expect(await send({ 'mcp-session-id': String(last) })).toMatchObject({ status: 404 });
    const left = heapUsed() - before;
    expect(left).toBeLessThan(SESSIONS * bytes * 0.1 + 2 ** 20);
    Session.prototype.close = close;
    agent.destroy();
    await test.close();
  },
  900_000,
);
