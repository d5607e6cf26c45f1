export { createTestClient, type TestClient, type TestClientOptions } from './create-test-client.js';
export { toolSurface, type ToolCost, type ToolSurface } from './tool-surface.js';
export { expectToolError, jsonOf, textOf } from './results.js';
export { replayRounds, type ReplayedRounds } from './replay-rounds.js';
export { contracts } from './contracts.js';
export { MemoryMessageBus } from '../stores/message-bus.js';
export { MemorySessionStore } from '../stores/session-store.js';
