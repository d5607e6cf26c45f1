import { MemoryEventStore } from '../../stores/memory-event-store.js';
import { MemoryMessageBus } from '../../stores/message-bus.js';
import { MemorySessionStore } from '../../stores/session-store.js';
import { SharedSessions } from './shared-sessions.js';

describe('SharedSessions', () => {
  // A client sends its answer once. If it were dropped, the call would wait for it until its timeout.
  it('keeps answers to every node after a failure of the store, because messages of nodes may be missing', async () => {
    const store = new MemorySessionStore();
    const shared = new SharedSessions({
      store,
      events: new MemoryEventStore(),
      bus: new MemoryMessageBus(),
      server: 'shop',
      node: 'a1b2c3d4',
      ttlMs: 1000,
      onMessage: () => {},
      isKeptByAll: () => false,
      onHeard: () => {},
      onBeat: () => {},
      report: () => {},
    });
    const peers = shared.peersOf('session', shared.node);
    expect(peers.knows('0a1b2c3d')).toBe(false);

    jest.spyOn(store, 'read').mockRejectedValueOnce(new Error('Redis is away'));
    await expect(shared.read('session')).rejects.toThrow();
    expect(peers.knows('0a1b2c3d')).toBe(true);
  });
});
