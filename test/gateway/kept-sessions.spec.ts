import { Injectable } from '@nestjs/common';
import { McpModule, MemoryEventStore, Tool } from 'nestjs-mcp';
import { McpAuthModule } from 'nestjs-mcp/auth';
import { MemoryMessageBus, MemorySessionStore } from 'nestjs-mcp/testing';
import { SHARED } from '../../lib/stores/shared-state.js';
import { bearer, trusting } from '../auth/callers.js';
import { endSession, openSession, post } from '../fixtures/raw-session.js';
import { listen, startGateway, type Running } from './support.js';

@Injectable()
class Shop {
  @Tool()
  hello() {
    return 'hello';
  }
}

class ShopModule {}

describe('a session of a gateway whose nodes keep it', () => {
  let backend: Running;
  let nodes: Running[];

  beforeEach(async () => {
    backend = await listen(
      {
        module: ShopModule,
        imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })],
        providers: [Shop],
      },
      0,
    );
    const shared = {
      bus: new MemoryMessageBus(),
      sessions: new MemorySessionStore(),
      events: new MemoryEventStore(),
    };
    class SharedModule {}
    const providers = [{ provide: SHARED, useValue: shared }];
    const sharing = { module: SharedModule, global: true, providers, exports: [SHARED] };
    const auth = McpAuthModule.forRoot({
      authorizationServers: ['https://login.example'],
      verifier: trusting,
      anonymous: true,
    });
    const startNode = () => startGateway({ backend: { url: backend.url } }, [], 0, [sharing, auth]);
    nodes = [await startNode(), await startNode()];
  });
  afterEach(async () => {
    await Promise.all(nodes.map(({ app }) => app.close()));
    await backend.app.close();
  });

  const called = async (node: number, headers: Record<string, string>) => {
    const params = { name: 'hello', arguments: {} };
    const answer = await post(nodes[node].url, headers, { id: 1, method: 'tools/call', params });
    await answer.text();
    return answer.status;
  };

  it('ends on all of them', async () => {
    const session = await openSession(nodes[0].url);
    expect([await called(0, session), await called(1, session)]).toEqual([200, 200]);
    expect((await endSession(nodes[0].url, session)).status).toBe(200);
    expect([await called(0, session), await called(1, session)]).toEqual([404, 404]);
  });

  it('has the same owner on all of them', async () => {
    const session = await openSession(nodes[0].url);
    expect([await called(0, session), await called(1, session)]).toEqual([200, 200]);
    const owner = { ...session, ...bearer('ada') };
    expect([await called(0, owner), await called(1, owner)]).toEqual([200, 200]);
    expect([await called(0, session), await called(1, session)]).toEqual([404, 404]);
  });
});
