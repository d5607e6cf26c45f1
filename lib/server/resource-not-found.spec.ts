import { ResourceNotFoundError } from '@modelcontextprotocol/server';
import { Injectable, NotFoundException, UseGuards } from '@nestjs/common';
import { Resource, ResourceTemplate, Tool, UriParams } from 'nestjs-mcp';
import { startApp, textOf, type TestApp } from '../../test/fixtures/matrix.js';

@Injectable()
class Handlers {
  @ResourceTemplate({ uriTemplate: 'users://{id}' })
  user(@UriParams('id') id: string) {
    if (id === 'thrown') throw new NotFoundException(`There is no user ${id}`);
    if (id === 'sdk') throw new ResourceNotFoundError('users://other');
    return id === 'ada' ? { name: 'Ada' } : undefined;
  }

  @ResourceTemplate({ uriTemplate: 'files://{id}' })
  async file(@UriParams('id') _id: string) {
    return undefined;
  }

  @Resource({ uri: 'secret://plan' })
  @UseGuards({
    canActivate: () => {
      throw new NotFoundException('No such plan');
    },
  })
  plan() {
    return 'plan';
  }

  @Resource({ uri: 'state://empty' })
  empty() {
    return undefined;
  }

  @Tool()
  find() {
    throw new NotFoundException('There is no such user');
  }
}

/** What a server answers on the wire: the SDK's client makes one code of several. */
async function errorOf(
  app: TestApp,
  era: 'modern' | 'legacy',
  method: string,
  uri: string,
): Promise<unknown> {
  const version = era === 'modern' ? '2026-07-28' : '2025-11-25';
  const key = (name: string) => `io.modelcontextprotocol/${name}`;
  const envelope = {
    [key('protocolVersion')]: version,
    [key('clientInfo')]: { name: 'raw', version: '1' },
    [key('clientCapabilities')]: {},
  };
  const response = await fetch(await app.url(), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      ...(era === 'modern' && { 'mcp-method': method, 'mcp-name': uri }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { uri, ...(era === 'modern' && { _meta: envelope }) },
    }),
  });
  const [answer] = /\{.*\}/.exec(await response.text()) ?? [];
  return (JSON.parse(answer ?? '{}') as { error?: unknown }).error;
}

describe.each([
  ['modern', -32602],
  ['legacy', -32002],
] as const)('a resource that is not there, in the %s era,', (era, code) => {
  let app: TestApp;
  beforeAll(async () => (app = await startApp([Handlers], { mcp: { legacy: 'stateless' } })));
  afterAll(() => app.close());

  it.each([
    ['an unknown URI', 'nowhere://at/all'],
    ['a template that returns undefined', 'users://nobody'],
    ['a template that returns a Promise of it', 'files://x'],
    ['a NotFoundException', 'users://thrown'],
    ['the error of the SDK', 'users://sdk'],
    ['a NotFoundException of a guard', 'secret://plan'],
  ])('has one answer: %s', async (_what, uri) => {
    const message = `Resource not found: ${uri}`;
    expect(await errorOf(app, era, 'resources/read', uri)).toEqual({ code, message, data: { uri } });
  });

  it('is neither one that is empty, nor what a tool does not find', async () => {
    const client = await app.client({ era });
    const { contents } = await client.readResource({ uri: 'state://empty' });
    expect(contents).toMatchObject([{ text: 'null' }]);
    const result = await client.callTool({ name: 'find' });
    expect(textOf(result)).toBe('There is no such user');
  });
});

it('a subscription that a guard answers with a NotFoundException has the answer, too', async () => {
  const app = await startApp([Handlers]);
  try {
    const client = await app.client({ era: 'legacy' });
    const error = { message: 'Resource not found: secret://plan', data: { uri: 'secret://plan' } };
    await expect(client.subscribeResource({ uri: 'secret://plan' })).rejects.toMatchObject(error);
  } finally {
    await app.close();
  }
});
