import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { getMcpClientToken, McpClientModule, type McpClient } from 'nestjs-mcp/client';

interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
}

/** What a scenario has the client do. */
const SCENARIOS: Readonly<Record<string, (client: McpClient, context: Context) => Promise<void>>> = {
  'http-standard-headers': async client => {
    const { tools } = await client.listTools();
    for (const { name } of tools) await client.callTool({ name });
    const { resources } = await client.listResources();
    for (const { uri } of resources) await client.readResource({ uri });
    const { prompts } = await client.listPrompts();
    for (const { name } of prompts) await client.getPrompt({ name });
  },
  'http-custom-headers': async (client, { toolCalls = [] }) => {
    await client.listTools();
    for (const call of toolCalls) await client.callTool({ ...call });
  },
  'http-invalid-tool-headers': async client => {
    const { tools } = await client.listTools();
    for (const { name, inputSchema } of tools) {
      const properties = Object.keys(inputSchema.properties ?? {});
      await client.callTool({
        name,
        arguments: Object.fromEntries(properties.map(property => [property, 'us-west1'])),
      });
    }
  },
};

/** The conformance suite starts this with the URL of its server, and says in the environment what it wants to see. */
async function main(): Promise<void> {
  const url = process.argv.at(-1);
  const { MCP_CONFORMANCE_SCENARIO: name = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
  if (!Object.hasOwn(SCENARIOS, name)) throw new Error(`There is no scenario ${name}`);

  @Module({ imports: [McpClientModule.register([{ name: 'suite', url, era: 'modern' }])] })
  class ClientModule {}

  const app = await NestFactory.createApplicationContext(ClientModule, { logger: ['warn', 'error'] });
  try {
    await SCENARIOS[name](app.get<McpClient>(getMcpClientToken('suite')), JSON.parse(context) as Context);
  } finally {
    await app.close();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
