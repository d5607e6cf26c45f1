import { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import {
  Args,
  McpContext,
  McpExecutionContext,
  Resource,
  ResourceTemplate,
  Tool,
  UriParams,
} from 'nestjs-mcp';
import { anyCell, startApp, type TestApp } from '../fixtures/matrix.js';

let seen: ExecutionContext;

const recording: CanActivate = {
  canActivate(context) {
    seen = context;
    return true;
  },
};

@Injectable()
@UseGuards(recording)
class Handlers {
  @Tool({ inputSchema: { type: 'object' } })
  tool(@Args() _args: unknown) {
    return 'tool';
  }

  @Resource({ uri: 'config://app' })
  resource() {
    return 'resource';
  }

  @ResourceTemplate({ uriTemplate: 'users://{id}' })
  template(@UriParams() _variables: unknown) {
    return 'template';
  }
}

interface PlatformMessage<T> {
  raw?: T;
}

describe.each(anyCell())('the execution context of a handler, over $name,', ({ platform, era, legacy }) => {
  let test: TestApp;
  let client: Awaited<ReturnType<TestApp['client']>>;

  beforeAll(async () => {
    test = await startApp([Handlers], { platform, mcp: { legacy } });
    client = await test.client({ era, headers: { 'x-user': 'ada' } });
    await client.callTool({ name: 'tool', arguments: { a: 1 } });
  });
  afterAll(() => test.close());

  it('is of type mcp, and names class and method', () => {
    expect(seen.getType<string>()).toBe('mcp');
    expect(seen.getClass()).toBe(Handlers);
    expect(seen.getHandler()).toBe(Handlers.prototype.tool);
  });

  it('has the platform’s HTTP request and response', () => {
    const http = seen.switchToHttp();
    const request = http.getRequest<IncomingMessage & PlatformMessage<IncomingMessage>>();
    const response = http.getResponse<ServerResponse & PlatformMessage<ServerResponse>>();
    expect(request.headers).toMatchObject({ 'x-user': 'ada', 'content-type': 'application/json' });
    expect(platform === 'fastify' ? request.raw : request).toBeInstanceOf(IncomingMessage);
    expect(platform === 'fastify' ? response.raw : response).toBeInstanceOf(ServerResponse);
    expect(seen.getArgs()).toEqual([request, response]);
    expect(seen.getArgByIndex(0)).toBe(request);
  });

  it('has the arguments and the McpContext as data and context of a remote call', () => {
    const rpc = seen.switchToRpc();
    expect(rpc.getData()).toEqual({ a: 1 });
    expect(rpc.getContext()).toBeInstanceOf(McpContext);
    const mcp = McpExecutionContext.create(seen);
    expect(mcp.getArguments()).toEqual({ a: 1 });
    expect(mcp.getContext()).toBe(rpc.getContext());
    expect(mcp.getContext()).toMatchObject({ era, method: 'tools/call' });
    expect(mcp.getContext().request).toBe(seen.switchToHttp().getRequest());
  });

  it.each([
    ['config://app', 'config://app'],
    ['users://ada', { id: 'ada' }],
  ])('has the URI of a resource, or the variables of a template, as data: %s', async (uri, data) => {
    await client.readResource({ uri });
    expect(seen.switchToRpc().getData()).toEqual(data);
  });
});

describe('the response of a handler’s execution context', () => {
  it.each(anyCell())('cannot be answered, over $name', async ({ platform, era, legacy }) => {
    const answering: CanActivate = {
      canActivate(context) {
        if (context.getType<string>() !== 'mcp') return true;
        const response = context.switchToHttp().getResponse<Record<string, (value?: unknown) => unknown>>();
        for (const method of ['send', 'json', 'end', 'write', 'writeHead', 'redirect', 'destroy', 'hijack']) {
          if (method in response) response[method]('broken');
        }
        (response as unknown as PlatformMessage<ServerResponse>).raw?.end('broken');
        return true;
      },
    };
    const test = await startApp([Handlers], {
      platform,
      mcp: { legacy },
      configure: app => app.useGlobalGuards(answering),
    });
    const client = await test.client({ era });
    expect(await client.callTool({ name: 'tool' })).toMatchObject({ content: [{ text: 'tool' }] });
    await test.close();
  });
});
