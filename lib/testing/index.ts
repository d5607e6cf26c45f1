export { createTestClient, type TestClientOptions } from './create-test-client.js';
export { replayRounds, type ReplayedRounds } from './replay-rounds.js';
