export { createTestClient, type TestClientOptions } from './create-test-client.js';
export { replayRounds, type ReplayedRounds } from './replay-rounds.js';
export type { ContractCheck } from './contract-check.js';
export { mrtrStoreContract } from './mrtr-store-contract.js';
export { messageBusContract } from './message-bus-contract.js';
