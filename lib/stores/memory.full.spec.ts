import { MemoryEventStore, MemoryMrtrStore } from 'nestjs-mcp';
import { contracts, MemoryMessageBus, MemorySessionStore } from 'nestjs-mcp/testing';

const store = new MemoryMrtrStore();
for (const { name, run } of contracts.mrtrStore(() => store)) it(`MemoryMrtrStore: ${name}`, run);

const bus = new MemoryMessageBus();
for (const { name, run } of contracts.messageBus(() => bus)) it(`MemoryMessageBus: ${name}`, run);

const sessions = new MemorySessionStore();
for (const { name, run } of contracts.sessionStore(() => sessions)) it(`MemorySessionStore: ${name}`, run);

const events = new MemoryEventStore();
for (const { name, run } of contracts.eventStore(() => events)) it(`MemoryEventStore: ${name}`, run);
