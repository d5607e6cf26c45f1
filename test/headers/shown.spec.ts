import { Injectable } from '@nestjs/common';
import { Mutator, respondWith, Tool, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { regional, startHeaderServer } from '../fixtures/header-server.js';
import { startApp } from '../fixtures/matrix.js';
import { startGateway } from '../gateway/support.js';
import { call, send, STANDARD, type Answer } from './support.js';

@Injectable()
class Regions {
  @Tool({ inputSchema: regional().inputSchema })
  regional() {
    return 'done';
  }

  @Tool({ inputSchema: regional().inputSchema })
  hidden() {
    return 'done';
  }
}

interface Tools {
  readonly tools?: readonly { readonly name: string; readonly inputSchema: object }[];
}

/** What becomes of the tools that a list shows, and how often it is asked. */
const shown = { as: (tool: object): object => tool, added: [] as object[], runs: 0 };

@Injectable()
class Shows {
  @Mutator({ events: ['tools/list'], phase: 'response' })
  show({ payload }: InterceptorInvocation<Tools>) {
    shown.runs += 1;
    const tools = payload.tools?.filter(({ name }) => name !== 'hidden').map(tool => shown.as(tool));
    return tools && { ...payload, tools: [...tools, ...shown.added] };
  }

  @Validator({ events: ['tools/call'] })
  noForce({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return payload.arguments?.['force'] !== true;
  }

  @Mutator({ events: ['tools/call'], phase: 'request', priority: -1 })
  answerAlias({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return payload.name === 'alias' || payload.arguments?.['dry']
      ? respondWith({ content: [{ type: 'text', text: 'by alias' }] })
      : undefined;
  }

  @Mutator({ events: ['tools/call'], phase: 'request' })
  move({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return { ...payload, arguments: { region: 'moved' } };
  }
}

const SERVERS: [string, () => Promise<{ url: string; close(): Promise<void> }>][] = [
  [
    'a server',
    async () => {
      const app = await startApp([Regions, Shows]);
      return { url: await app.url(), close: () => app.close() };
    },
  ],
  [
    'a gateway',
    async () => {
      const backend = await startHeaderServer([regional(), regional('Region', 'hidden')]);
      const gateway = await startGateway({ backend: { url: backend.url } }, [Shows]);
      return {
        url: gateway.url,
        close: async () => {
          await gateway.app.close();
          await backend.close();
        },
      };
    },
  ],
];

describe.each(SERVERS)('the headers of a tool as %s shows it', (_, start) => {
  let server: Awaited<ReturnType<typeof start>>;
  const callOf = (name: string, headers: Record<string, string>, more?: object): Promise<Answer> =>
    send(server.url, call({ region: 'eu', ...more }, name), { ...STANDARD, 'Mcp-Name': name, ...headers });
  const as = (inputSchema: object) => (tool: object) => ({ ...tool, inputSchema });
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());
  beforeEach(() => {
    shown.as = tool => tool;
    shown.added = [];
    shown.runs = 0;
  });

  it('are those of its definition', async () => {
    expect(await callOf('regional', { 'Mcp-Param-Region': 'eu' })).toMatchObject({
      status: 200,
      text: 'done',
    });
    expect(await callOf('regional', {})).toMatchObject({ status: 400, code: -32020 });
  });

  it('are none where an interceptor takes them away', async () => {
    shown.as = as({ type: 'object' });
    expect(await callOf('regional', {})).toMatchObject({ status: 200, text: 'done' });
  });

  it('are others where an interceptor names others', async () => {
    shown.as = as(regional('Zone').inputSchema);
    expect(await callOf('regional', { 'Mcp-Param-Zone': 'eu' })).toMatchObject({ status: 200, text: 'done' });
    expect(await callOf('regional', { 'Mcp-Param-Region': 'eu' })).toMatchObject({
      status: 400,
      code: -32020,
      message: expect.stringMatching(/Mcp-Param-Zone header is missing/),
    });
  });

  it('are those of one that an interceptor adds', async () => {
    shown.added = [{ name: 'alias', inputSchema: regional('Zone').inputSchema }];
    expect(await callOf('alias', { 'Mcp-Param-Zone': 'eu' })).toMatchObject({
      status: 200,
      text: 'by alias',
    });
    expect(await callOf('alias', { 'Mcp-Param-Zone': 'us' })).toMatchObject({ status: 400, code: -32020 });
  });

  it('are compared with what the client sent, by one run of the list', async () => {
    expect(await callOf('regional', { 'Mcp-Param-Region': 'moved' })).toMatchObject({ code: -32020 });
    expect(shown.runs).toBe(1);
  });

  it.each([{ force: true }, { dry: true }])(
    'do not tell either what interceptors of calls answer (%j)',
    async args => {
      const answerOf = async (name: string) =>
        JSON.stringify(await callOf(name, {}, args)).replaceAll(name, '…');
      const hidden = await answerOf('hidden');
      shown.runs = 0;
      expect(await answerOf('absent')).toBe(hidden);
      expect(shown.runs).toBe(1);
    },
  );

  it.each<Record<string, string>>([{}, { 'Mcp-Param-Region': 'us' }, { 'Mcp-Param-Region': 'eu' }])(
    'do not tell one that is hidden from one that does not exist (%j)',
    async headers => {
      const hidden = await callOf('hidden', headers);
      const absent = await callOf('absent', headers);
      expect(hidden).toMatchObject({ status: 200, code: -32602, message: 'Unknown tool: hidden' });
      expect({ ...absent, message: absent.message?.replace('absent', 'hidden') }).toEqual(hidden);
    },
  );
});
