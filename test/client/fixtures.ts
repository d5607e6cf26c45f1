import { Injectable, type INestApplication, type ModuleMetadata, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { inputRequired, inputResponse } from '@modelcontextprotocol/server';
import {
  Args,
  Completion,
  Ctx,
  deny,
  McpServerRegistry,
  Mutator,
  Prompt,
  Resource,
  ResourceTemplate,
  respondWith,
  Sink,
  Tool,
  Validator,
  type InterceptorInvocation,
  type McpContext,
} from 'nestjs-mcp';
import { getMcpClientToken, McpClientModule, type McpClient, type McpClientOptions } from 'nestjs-mcp/client';
import { textOf } from '../fixtures/matrix.js';

/** What the server of these tests offers. */
@Injectable()
export class Shop {
  readonly calls: unknown[] = [];

  constructor(private readonly registry: McpServerRegistry) {}

  @Tool()
  echo(@Args('text') text: string) {
    this.calls.push(text);
    return `echo ${text}`;
  }

  @Tool()
  async grow(@Args('name') name: string) {
    await this.registry.add('tool', { name }, () => name);
  }

  @Tool()
  touch(@Ctx() ctx: McpContext) {
    ctx.sendResourceUpdated('shop://open');
  }

  @Tool()
  ask(@Ctx() { inputResponses }: McpContext) {
    const answer = inputResponse(inputResponses, 'form');
    if (answer.kind === 'elicit') return JSON.stringify({ action: answer.action, content: answer.content });
    const form = inputRequired.elicit({
      message: 'Who are you?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    });
    return inputRequired({ inputRequests: { form } });
  }

  @Tool()
  think(@Ctx() { inputResponses }: McpContext) {
    const answer = inputResponse(inputResponses, 'thought');
    if (answer.kind === 'sampling') return JSON.stringify(answer.result.content);
    const thought = inputRequired.createMessage({
      messages: [{ role: 'user', content: { type: 'text', text: 'secret plan' } }],
      maxTokens: 10,
    });
    return inputRequired({ inputRequests: { thought } });
  }

  @Tool()
  where(@Ctx() { inputResponses }: McpContext) {
    const answer = inputResponse(inputResponses, 'roots');
    if (answer.kind === 'roots') return answer.roots.map(({ uri }) => uri).join(' ');
    return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
  }

  @Tool()
  declared(@Ctx() { clientCapabilities }: McpContext) {
    return JSON.stringify(clientCapabilities);
  }

  @Prompt()
  greet(@Args('name') name: string) {
    return `hello ${name}`;
  }

  @Completion({ prompt: 'greet', argument: 'name' })
  names() {
    return ['ann', 'bob'];
  }

  @Resource({ uri: 'shop://open' })
  open() {
    return 'open';
  }

  @ResourceTemplate({ uriTemplate: 'shop://item/{id}' })
  item() {
    return 'item';
  }
}

/** Interceptors that write down what they see, and do what the payload tells them to. */
@Injectable()
export class Trace {
  readonly seen: string[] = [];
  readonly requests: unknown[] = [];

  @Validator({ events: ['*'], phase: 'both' })
  check({ event, phase, direction, payload, bag, request }: InterceptorInvocation) {
    this.seen.push(`${event} ${phase} ${direction} validate${bag.has('mutated') ? ' after' : ''}`);
    if (phase === 'response') this.requests.push(request);
    const text = JSON.stringify(payload);
    return !text.includes(`deny-${phase}`) || deny('Not that', { path: 'arguments.text' });
  }

  @Mutator({ events: ['*'], phase: 'both' })
  change({ event, phase, direction, payload, bag }: InterceptorInvocation) {
    this.seen.push(`${event} ${phase} ${direction} mutate`);
    bag.set('mutated', true);
    const text = JSON.stringify(payload);
    if (phase === 'request' && text.includes('cached')) {
      // A subscription has an empty result.
      const isCall = event === 'tools/call';
      return respondWith(isCall ? { content: [{ type: 'text', text: 'from the cache' }] } : {});
    }
    if (text.includes('crash')) throw new Error('password=hunter2');
    return text.includes('secret') ? (JSON.parse(text.replaceAll('secret', '***')) as object) : undefined;
  }

  @Validator({ events: ['*'], phase: 'both', mode: 'audit' })
  audits({ payload }: InterceptorInvocation) {
    return !JSON.stringify(payload).includes('audited');
  }

  @Sink({ events: ['*'], phase: 'both' })
  record({ event, phase, report }: InterceptorInvocation) {
    this.seen.push(`${event} ${phase} ${report?.status}`);
  }
}

export interface ClientApp {
  readonly app: INestApplication;
  client(name?: string): McpClient;
  close(): Promise<void>;
}

/** An application with clients and without any server. */
export async function startClients(
  clients: McpClientOptions[],
  providers: Type[] = [],
  { imports = [], ...module }: ModuleMetadata = {},
): Promise<ClientApp> {
  const testing = await Test.createTestingModule({
    ...module,
    imports: [McpClientModule.register(clients), ...imports],
    providers: [...providers, ...(module.providers ?? [])],
  }).compile();
  const app = testing.createNestApplication();
  app.useLogger(false);
  await app.init();
  return {
    app,
    client: (name = 'shop') => app.get<McpClient>(getMcpClientToken(name), { strict: false }),
    close: () => app.close(),
  };
}

export { textOf };
