import { Injectable } from '@nestjs/common';
import { McpServerRegistry, Tool } from 'nestjs-mcp';
import { z } from 'zod';
import { anyCell, startApp, textOf } from '../fixtures/matrix.js';

const conversions = { input: 0, output: 0 };

/** A zod schema that counts how often it is turned into JSON Schema. */
function counted<T extends z.ZodType>(schema: T): T {
  const { jsonSchema } = schema['~standard'];
  const { input, output } = jsonSchema;
  Object.assign(jsonSchema, {
    input: (options: Parameters<typeof input>[0]) => ((conversions.input += 1), input(options)),
    output: (options: Parameters<typeof output>[0]) => ((conversions.output += 1), output(options)),
  });
  return schema;
}

/** A new class with new schemas, because a schema is converted once for all applications of a process. */
function countedTools() {
  @Injectable()
  class Counted {
    @Tool({
      inputSchema: counted(z.object({ a: z.number() })),
      outputSchema: counted(z.object({ a: z.number() })),
    })
    same({ a }: { a: number }) {
      return { a };
    }
  }
  return Counted;
}

describe.each(anyCell())('$name', ({ platform, era, legacy }) => {
  it('converts a schema once, however often it is listed and called', async () => {
    Object.assign(conversions, { input: 0, output: 0 });
    const test = await startApp([countedTools()], { platform, mcp: { legacy } });
    const atStart = { ...conversions };
    expect(atStart).toEqual({ input: 1, output: 1 });
    const client = await test.client({ era });
    for (let call = 0; call < 5; call += 1) {
      await client.listTools();
      expect((await client.callTool({ name: 'same', arguments: { a: call } })).structuredContent).toEqual({
        a: call,
      });
    }
    expect(conversions).toEqual(atStart);
    await test.close();
  });

  it('serves one tool of a thousand, and lists them all', async () => {
    const test = await startApp([], { platform, mcp: { legacy, capabilities: { tools: true } } });
    const registry = test.app.get(McpServerRegistry, { strict: false });
    for (let index = 0; index < 1000; index += 1) {
      await registry.add('tool', { name: `tool-${index}` }, () => `answer ${index}`);
    }
    const client = await test.client({ era });
    expect((await client.listTools()).tools).toHaveLength(1000);
    expect(textOf(await client.callTool({ name: 'tool-500' }))).toBe('answer 500');
    await test.close();
  });
});
