import { send } from '../compliance/mrtr/raw-client.js';
import { NodeProcess } from './node-process.js';

const ANSWER = { action: 'decline' };

describe('a process whose handlers leave rejections behind', () => {
  let node: NodeProcess;
  beforeEach(async () => {
    node = new NodeProcess({ app: 'stray-rejections.ts', stderr: 'pipe' });
    await node.start();
  });
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

  it.each([
    ['before any round has ended', () => Promise.resolve()],
    ['after one has', ask],
  ])('ends with any other, as Node has it: %s', async (_, before) => {
    await before();
    await send(node.url!, { name: 'stray' }).catch(() => undefined);
    expect(await node.exited()).toEqual({ code: 1, stderr: expect.stringContaining('Error: stray') });
  });
});
