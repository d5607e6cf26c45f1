import { Injectable } from '@nestjs/common';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { McpServerRegistry, Tool } from 'nestjs-mcp';
import { McpAuthModule, RequireScopes } from 'nestjs-mcp/auth';
import type { McpCall } from '../../lib/protocol/mcp-call.js';
import { answerInJson } from '../../lib/server/answer-encoder.js';
import { MCP_SERVERS, type McpServers } from '../../lib/module/mcp-servers.js';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { trusting } from '../auth/callers.js';

@Injectable()
class Tools {
  @Tool()
  member() {
    return 'member';
  }
}

describe('lists by caller', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp([Tools], {
      module: {
        imports: [
          McpAuthModule.forRoot({
            authorizationServers: ['https://login.example'],
            lists: 'allowed',
            verifier: trusting,
          }),
        ],
      },
    });
    const registry = app.app.get(McpServerRegistry);
    for (let scope = 0; scope < 10; scope += 1) {
      const handler = () => 'scoped';
      RequireScopes(`scope-${scope}`)(handler);
      await registry.add('tool', { name: `tool-${scope}` }, handler);
    }
  });

  afterAll(() => app.close());

  const list = (index: number, scopes: string[]) => {
    const authInfo: AuthInfo = {
      token: `${index}`,
      clientId: 'desk',
      scopes,
      extra: { sub: `user-${index}` },
    };
    const call = {
      requestId: 1,
      method: 'tools/list',
      params: {},
      era: 'modern',
      authInfo,
      http: { request: {}, response: {}, headers: {}, rawHeaders: [], caller: '' },
    } as unknown as McpCall;
    return answerInJson(app.app.get<McpServers>(MCP_SERVERS).get()!, call);
  };

  it('are written once for each set of scopes that matters, whoever asks', async () => {
    const write = jest.spyOn(JSON, 'stringify');
    const answers = new Set<string>();
    for (let index = 0; index < 1000; index += 1) {
      // No handler asks for the second one.
      answers.add((await list(index, [`scope-${index % 10}`, `own-${index}`])).json);
    }
    const lists = write.mock.calls.filter(([value]) =>
      Array.isArray((value as { tools?: unknown } | null)?.tools),
    );
    write.mockRestore();
    expect(answers.size).toBe(10);
    expect(lists).toHaveLength(10);
  });

  it('are forgotten beyond a bound, and written again', async () => {
    const subset = (bits: number) =>
      [...Array(10).keys()].filter(bit => bits & (1 << bit)).map(bit => `scope-${bit}`);
    const first = await list(0, subset(0));
    for (let bits = 0; bits < 1024; bits += 1) await list(bits, subset(bits));
    const write = jest.spyOn(JSON, 'stringify');
    expect((await list(0, subset(0))).json).toBe(first.json);
    const lists = write.mock.calls.filter(([value]) =>
      Array.isArray((value as { tools?: unknown } | null)?.tools),
    );
    write.mockRestore();
    expect(lists).toHaveLength(1);
  });

  it('are forgotten beyond a total length', async () => {
    const registry = app.app.get(McpServerRegistry);
    const handler = () => 'large';
    await registry.add('tool', { name: 'large', description: 'x'.repeat(1_000_000) }, handler);
    const scopesOf = (bits: number) =>
      [...Array(10).keys()].filter(bit => bits & (1 << bit)).map(bit => `scope-${bit}`);
    const written = async (bits: number) => {
      const write = jest.spyOn(JSON, 'stringify');
      await list(bits, scopesOf(bits));
      const lists = write.mock.calls.filter(([value]) =>
        Array.isArray((value as { tools?: unknown } | null)?.tools),
      );
      write.mockRestore();
      return lists.length;
    };
    for (let bits = 0; bits < 10; bits += 1) expect(await written(bits)).toBe(1);
    expect(await written(0)).toBe(0);
    for (let bits = 10; bits < 40; bits += 1) await written(bits);
    expect(await written(0)).toBe(1);
  });
});
