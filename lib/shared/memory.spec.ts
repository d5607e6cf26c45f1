import { MemoryMessageBus, MemoryMrtrStore } from 'nestjs-mcp';
import { messageBusContract, mrtrStoreContract } from 'nestjs-mcp/testing';

const store = new MemoryMrtrStore();
for (const { name, run } of mrtrStoreContract(() => store)) it(`MemoryMrtrStore: ${name}`, run);

const bus = new MemoryMessageBus();
for (const { name, run } of messageBusContract(() => bus)) it(`MemoryMessageBus: ${name}`, run);
