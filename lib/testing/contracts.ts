import { messageBusContract } from './message-bus-contract.js';
import { mrtrStoreContract } from './mrtr-store-contract.js';

/**
 * The checks that every `MrtrStore` and every `MessageBus` must pass, for any test runner.
 *
 *     for (const { name, run } of contracts.mrtrStore(() => new MyStore(url))) it(name, run);
 *
 * The function makes the store or the bus of a node. It is called once for each node; all nodes share one database.
 */
export const contracts = { mrtrStore: mrtrStoreContract, messageBus: messageBusContract } as const;
