import 'reflect-metadata';
import { once } from 'node:events';
import { Injectable, Module, type Provider } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { inputRequired } from '@modelcontextprotocol/server';
import {
  Args,
  Completion,
  Ctx,
  McpContext,
  McpException,
  McpModule,
  McpServerRegistry,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
  UriParams,
  type McpInterceptorOptions,
} from 'nestjs-mcp';

@Injectable()
export class BackendTools {
  constructor(private readonly registry: McpServerRegistry) {}

  @Tool({ description: 'Says it again' })
  echo(@Args('text') text: string) {
    return text;
  }

  @Tool()
  pid() {
    return String(process.pid);
  }

  @Tool()
  meta(@Ctx() { meta, clientInfo, clientCapabilities }: McpContext) {
    return {
      content: [],
      structuredContent: { meta, clientInfo, clientCapabilities },
      _meta: { 'example.com/answer': 42 },
    };
  }

  @Tool()
  broken() {
    return { content: [{ type: 'text', text: 'it broke' }], isError: true };
  }

  @Tool()
  refused() {
    throw new McpException(-32602, 'Not today', { until: 'tomorrow' });
  }

  @Tool()
  async progress(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1, 2, 'half');
    await ctx.reportProgress(2, 2, 'all');
    return 'done';
  }

  @Tool()
  async logs(@Args('text') text: string, @Ctx() ctx: McpContext) {
    await ctx.log.info(text);
    await ctx.log.debug('too much');
    return 'logged';
  }

  @Tool()
  async wait(@Ctx() { signal }: McpContext) {
    console.log('WAITING');
    await once(signal, 'abort');
    console.log('ABORTED');
  }

  @Tool()
  async grow(@Args('name') name: string) {
    await this.registry.add('tool', { name }, () => name);
  }

  @Tool()
  touch(@Ctx() ctx: McpContext) {
    ctx.sendResourceUpdated('state://a');
  }

  @Tool()
  order(@Ctx() ctx: McpContext) {
    const size = ctx.inputResponses?.['size'] as { content?: { size?: string } } | undefined;
    if (ctx.requestState() === 'asked' && size) return `ordered ${size.content?.size}`;
    return inputRequired({
      inputRequests: {
        size: inputRequired.elicit({
          message: 'Which size?',
          requestedSchema: { type: 'object', properties: { size: { type: 'string' } } },
        }),
      },
      requestState: 'asked',
    });
  }

  @Tool({
    inputSchema: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    },
  })
  regional(@Args('region') region: string) {
    return `in ${region}`;
  }

  @Resource({ uri: 'state://a', name: 'state' })
  state() {
    return 'on';
  }

  @ResourceTemplate({ uriTemplate: 'user://{id}', name: 'user' })
  user(@UriParams() { id }: { id: string }) {
    return `user ${id}`;
  }

  @Prompt({ argsSchema: { type: 'object', properties: { topic: { type: 'string' } } } })
  talk(@Args('topic') topic: string) {
    return `Talk about ${topic}`;
  }

  @Completion({ prompt: 'talk', argument: 'topic' })
  topics(value: string) {
    return ['tea', 'toast', 'soup'].filter(topic => topic.startsWith(value));
  }
}

/** A server of the package, for a gateway to stand in front of. */
export function backendModule(
  name = 'backend',
  stdio = false,
  interceptors: McpInterceptorOptions = {},
  providers: Provider[] = [BackendTools],
): object {
  @Module({
    imports: [
      McpModule.forRoot({
        name,
        version: '1.2.3',
        instructions: `This is ${name}.`,
        pageSize: 5,
        stdio,
        http: stdio ? false : {},
        interceptors,
      }),
    ],
    providers,
  })
  class BackendModule {}
  return BackendModule;
}

/** As a process of its own: over stdio, or on a port that it prints. */
async function main(): Promise<void> {
  const { PORT } = process.env;
  if (PORT === undefined)
    return void (await NestFactory.createApplicationContext(backendModule('backend', true) as never));
  const app = await NestFactory.create(backendModule() as never, { logger: false });
  await app.listen(PORT, '127.0.0.1');
  console.log(`LISTENING ${new URL(await app.getUrl()).port}`);
}

if (process.env['RUN_BACKEND']) void main();
