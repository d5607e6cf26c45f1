import { MemoryMrtrStore } from 'nestjs-mcp';
import { contracts, MemoryMessageBus } from 'nestjs-mcp/testing';

const store = new MemoryMrtrStore();
for (const { name, run } of contracts.mrtrStore(() => store)) it(`MemoryMrtrStore: ${name}`, run);

const bus = new MemoryMessageBus();
for (const { name, run } of contracts.messageBus(() => bus)) it(`MemoryMessageBus: ${name}`, run);
