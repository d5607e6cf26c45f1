import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';
import { Session } from '../../../lib/transports/sessions/session.js';
import { deferred } from '../../fixtures/deferred.js';
import { heapUsed, IdleSessions } from '../../fixtures/idle-sessions.js';
import { anyPlatform, startApp } from '../../fixtures/matrix.js';
import { soakSize } from '../../fixtures/soak.js';

const SESSIONS = soakSize(50_000, 1_000);
/** Longer than it takes to open all sessions: they idle together. */
const IDLE_MS = soakSize(120_000, 5_000);

@Injectable()
class Tools {
  @Tool()
  ping() {
    return 'pong';
  }
}

it.each(anyPlatform())(
  'sessions that are opened and abandoned leave nothing behind on %s',
  async platform => {
    const ended = deferred();
    let open = SESSIONS;
    const { close } = Session.prototype;
    // A spy of Jest would keep what it is called on.
    Session.prototype.close = async function (this: Session) {
      await close.call(this);
      if ((open -= 1) === 0) ended.resolve();
    };
    const sessions = { max: SESSIONS, maxPerCaller: SESSIONS, idleTimeoutMs: IDLE_MS };
    const test = await startApp([Tools], { platform, mcp: { sessions } });
    const idle = new IdleSessions(await test.url());
    await idle.open(100);
    const before = heapUsed();
    const last = await idle.open(SESSIONS - 100);
    const bytes = (heapUsed() - before) / (SESSIONS - 100);
    console.log(`An idle session takes ${Math.round(bytes)} bytes`);
    await ended.promise;
    expect(await idle.send({ 'mcp-session-id': last })).toMatchObject({ status: 404 });
    const left = heapUsed() - before;
    expect(left).toBeLessThan(SESSIONS * bytes * 0.1 + 2 ** 20);
    Session.prototype.close = close;
    idle.close();
    await test.close();
  },
  900_000,
);
