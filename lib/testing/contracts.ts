import { eventStoreContract } from './event-store-contract.js';
import { messageBusContract } from './message-bus-contract.js';
import { mrtrStoreContract } from './mrtr-store-contract.js';
import { sessionStoreContract } from './session-store-contract.js';
import { taskStoreContract } from './task-store-contract.js';

/**
 * The checks that every `SessionStore`, `EventStore`, `MrtrStore`, `TaskStore` and `MessageBus` must pass, for any test runner.
 *
 * The function creates the store or the bus of a node. It is called once for each node; all nodes share one database.
 * @example
 * ```ts
 * for (const { name, run } of contracts.mrtrStore(() => new MyStore(url))) it(name, run);
 * ```
 */
export const contracts = {
  sessionStore: sessionStoreContract,
  eventStore: eventStoreContract,
  mrtrStore: mrtrStoreContract,
  taskStore: taskStoreContract,
  messageBus: messageBusContract,
} as const;
