import { Injectable, Module } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { McpServerRegistry, Tool } from 'nestjs-mcp';
import { startApp } from '../fixtures/matrix.js';

@Injectable()
class Tools {
  constructor(readonly registry: McpServerRegistry) {}

  @Tool()
  decorated() {
    return 'decorated';
  }

  async offer() {
    await this.registry.add('tool', { name: 'added' }, () => 'added');
  }
}

@Module({ providers: [Tools] })
class LazyModule {}

it('a lazily loaded module offers what it adds to the registry, and not its decorated handlers', async () => {
  const test = await startApp([], { mcp: { capabilities: { tools: true } } });
  const module = await test.app.get(LazyModuleLoader).load(() => LazyModule);
  await module.get(Tools).offer();
  const { tools } = await (await test.client()).listTools();
  expect(tools.map(({ name }) => name)).toEqual(['added']);
  await test.close();
});
