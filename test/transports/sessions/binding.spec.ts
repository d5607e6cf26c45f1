import { Injectable } from '@nestjs/common';
import { Ctx, McpContext, MemoryEventStore, Tool } from 'nestjs-mcp';
import { AllowAnonymous, McpAuthModule } from 'nestjs-mcp/auth';
import { MemoryMessageBus, MemorySessionStore } from 'nestjs-mcp/testing';
import { deferred } from '../../fixtures/deferred.js';
import { startApp, type TestApp } from '../../fixtures/matrix.js';
import { bearer, trusting } from '../../auth/callers.js';
import { ask, openSession, textIn } from '../../auth/raw-caller.js';

@AllowAnonymous()
@Injectable()
class Tools {
  @Tool()
  whoAmI(@Ctx() { authInfo }: McpContext) {
    return String(authInfo?.extra?.['sub']);
  }
}

describe('an anonymous session of two nodes', () => {
  let nodes: TestApp[];
  let urls: string[];
  let store: MemorySessionStore;

  beforeEach(async () => {
    store = new MemorySessionStore();
    const bus = new MemoryMessageBus();
    const eventStore = new MemoryEventStore();
    const startNode = () =>
      startApp([Tools], {
        mcp: { bus, sessions: { store, eventStore } },
        module: {
          imports: [
            McpAuthModule.forRoot({ authorizationServers: ['https://login.example'], verifier: trusting }),
          ],
        },
      });
    nodes = [await startNode(), await startNode()];
    urls = await Promise.all(nodes.map(node => node.url()));
  });
  afterEach(() => Promise.all(nodes.map(node => node.close())));

  const whoAmI = async (node: number, session: string, headers?: Record<string, string>) => {
    const reply = await ask({ url: urls[node], era: 'legacy', headers, session }, 'tools/call', {
      name: 'whoAmI',
    });
    return textIn(reply) ?? reply.status;
  };

  it('gets one owner if two callers log in at the same moment', async () => {
    const session = await openSession(urls[0]);
    // Both nodes serve it as an anonymous session.
    expect([await whoAmI(0, session), await whoAmI(1, session)]).toEqual(['undefined', 'undefined']);
    const update = store.update.bind(store);
    const both = deferred();
    let claims = 0;
    jest.spyOn(store, 'update').mockImplementation(async (id, fields, ...rest) => {
      if ('caller' in fields && (claims += 1) === 2) both.resolve();
      if ('caller' in fields) await both.promise;
      return update(id, fields, ...rest);
    });
    const first = await Promise.all([
      whoAmI(0, session, bearer('ada')),
      whoAmI(1, session, bearer('grace')),
      whoAmI(1, session, bearer('ada')),
      whoAmI(0, session, bearer('grace')),
    ]);
    const winner = first.find(name => typeof name === 'string')!;
    for (const name of ['ada', 'grace']) {
      const expected = name === winner ? winner : 404;
      expect(await Promise.all([0, 1].map(node => whoAmI(node, session, bearer(name))))).toEqual([
        expected,
        expected,
      ]);
    }
    expect(await Promise.all([0, 1].map(node => whoAmI(node, session)))).toEqual([404, 404]);
  });

  it('stays anonymous everywhere if the store fails, and gets its owner at the next try', async () => {
    const session = await openSession(urls[0]);
    jest.spyOn(store, 'update').mockRejectedValueOnce(new Error('connection lost'));
    expect(await whoAmI(0, session, bearer('ada'))).toBe(503);
    expect(await whoAmI(0, session, bearer('ada'))).toBe('ada');
    expect([await whoAmI(1, session), await whoAmI(1, session, bearer('grace'))]).toEqual([404, 404]);
    expect(await whoAmI(1, session, bearer('ada'))).toBe('ada');
  });

  it('has the owner whose store answered too late', async () => {
    const session = await openSession(urls[0]);
    const update = store.update.bind(store);
    jest.spyOn(store, 'update').mockImplementationOnce(async (...args) => {
      await update(...args);
      throw new Error('connection lost');
    });
    expect(await whoAmI(0, session, bearer('ada'))).toBe(503);
    expect(await whoAmI(0, session, bearer('grace'))).toBe(404);
    expect(await whoAmI(0, session, bearer('ada'))).toBe('ada');
    expect(await whoAmI(1, session, bearer('ada'))).toBe('ada');
  });
});
