import { Injectable } from '@nestjs/common';
import { McpServerRegistry, Prompt, Resource, Tool } from 'nestjs-mcp';
import { anyCell, startApp } from '../../test/fixtures/matrix.js';

@Injectable()
class Handlers {
  @Tool()
  only() {
    return 'tool';
  }

  @Prompt()
  sole() {
    return 'prompt';
  }

  @Resource({ uri: 'config://app' })
  config() {
    return 'resource';
  }
}

describe.each(anyCell())('without its last handlers, over $name,', ({ platform, era, legacy }) => {
  it('a server answers lists still, with nothing in them', async () => {
    const test = await startApp([Handlers], { platform, mcp: { legacy } });
    const client = await test.client({ era });
    const registry = test.app.get(McpServerRegistry);
    registry.disable('tool', 'only');
    registry.remove('prompt', 'sole');
    registry.remove('resource', 'config://app');
    expect((await client.listTools()).tools).toEqual([]);
    expect((await client.listPrompts()).prompts).toEqual([]);
    expect((await client.listResources()).resources).toEqual([]);
    await expect(client.callTool({ name: 'only' })).rejects.toMatchObject({ code: -32602 });
    await test.close();
  });
});
