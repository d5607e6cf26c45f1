import type { Client } from '@modelcontextprotocol/client';
import { connect, outcomeOf, type Era } from '../gateway/support.js';
import { send } from '../fixtures/raw-client.js';
import { NodeProcess } from './node-process.js';

const ANSWER = { action: 'decline' };

describe('a process whose handlers leave rejections behind', () => {
  let node: NodeProcess;
  const start = async (...flags: string[]) => {
    await node?.kill();
    node = new NodeProcess({ app: 'stray-rejections.ts', stderr: 'pipe', flags });
    await node.start();
  };
  beforeEach(() => start());
  afterEach(() => node.kill());

  const ask = async () => {
    const { result } = await send(node.url!, { name: 'floating' });
    expect(Object.keys(result!.inputRequests!)).toEqual(['first', 'second']);
    return send(node.url!, {
      name: 'floating',
      requestState: result!.requestState,
      inputResponses: { first: ANSWER, second: ANSWER },
    });
  };

  it('lives where a question that nobody waits for yet ends with its round, and the call goes on', async () => {
    expect((await ask()).result!.content).toMatchObject([{ text: 'decline,decline' }]);
    expect((await ask()).result!.content).toMatchObject([{ text: 'decline,decline' }]);
  });

  it.each<[string, Era, object]>([
    ['a client of 2026-07-28 that cannot be asked', 'modern', {}],
    ['a 2025-era client that cannot be asked', 'legacy', {}],
    ['a 2025-era client that answers with an error', 'legacy', { elicitation: { form: {} } }],
  ])('lives where a question in hand fails: %s', async (_, era, capabilities) => {
    const prepare = (client: Client) => {
      if (!('elicitation' in capabilities)) return;
      client.setRequestHandler('elicitation/create', () => {
        throw new Error('nobody is here');
      });
    };
    const client = await connect(node.url!, era, { capabilities, prepare });
    const failed = JSON.stringify(await outcomeOf(client.callTool({ name: 'held' })));
    expect(failed).toMatch(/-32021|nobody is here/);
    await client.close();
    expect((await ask()).result!.content).toMatchObject([{ text: 'decline,decline' }]);
  });

  it('lives where the answer to a question in hand cannot be used', async () => {
    const { result } = await send(node.url!, { name: 'held' });
    const { requestState } = result!;
    const inputResponses = { region: { action: 'accept', content: {} } };
    const { error } = await send(node.url!, { name: 'held', requestState, inputResponses });
    expect(error).toMatchObject({ code: -32602 });
    expect((await ask()).result!.content).toMatchObject([{ text: 'decline,decline' }]);
  });

  it.each([
    ['before any round has ended', () => Promise.resolve()],
    ['after one has', ask],
  ])('ends with any other, as Node has it: %s', async (_, before) => {
    await before();
    await send(node.url!, { name: 'stray' }).catch(() => undefined);
    expect(await node.exited()).toEqual({ code: 1, stderr: expect.stringContaining('Error: stray') });
  });

  it.each(['warn', 'none'])('lives with any other where Node is told to: %s', async mode => {
    await start(`--unhandled-rejections=${mode}`);
    await ask();
    expect((await send(node.url!, { name: 'stray' })).result!.content).toMatchObject([
      { text: 'left behind' },
    ]);
    expect((await ask()).result!.content).toMatchObject([{ text: 'decline,decline' }]);
  });

  it('ends with any other where the process holds the library twice', async () => {
    await start('-r', require.resolve('../fixtures/library-twice.cjs'));
    await ask();
    await send(node.url!, { name: 'stray' }).catch(() => undefined);
    expect(await node.exited()).toEqual({ code: 1, stderr: expect.stringContaining('Error: stray') });
  });
});
