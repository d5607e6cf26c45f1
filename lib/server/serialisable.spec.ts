import { Injectable } from '@nestjs/common';
import { McpException, Prompt, Tool } from 'nestjs-mcp';
import { anyCell, startApp } from '../../test/fixtures/matrix.js';

const circle: { self?: unknown } = {};
circle.self = circle;

@Injectable()
class Unwritable {
  @Tool()
  bigint() {
    return { content: [], structuredContent: { n: 1n } };
  }

  @Tool()
  circular() {
    return { content: [], structuredContent: circle };
  }

  @Tool()
  error() {
    throw new McpException(-32001, 'no', { n: 1n });
  }

  @Prompt()
  prompt() {
    return { messages: [], _meta: { n: 1n } };
  }
}

it.each(anyCell())(
  'what cannot be written as JSON is an internal error over $name',
  async ({ platform, era, legacy }) => {
    const test = await startApp([Unwritable], { platform, mcp: { legacy } });
    const client = await test.client({ era });
    const error = { code: -32603, message: expect.stringMatching(/Internal error \(reference /) as string };
    await expect(client.callTool({ name: 'bigint' })).rejects.toMatchObject(error);
    await expect(client.callTool({ name: 'circular' })).rejects.toMatchObject(error);
    await expect(client.callTool({ name: 'error' })).rejects.toMatchObject(error);
    await expect(client.getPrompt({ name: 'prompt' })).rejects.toMatchObject(error);
    await test.close();
  },
);
