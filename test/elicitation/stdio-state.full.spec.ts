import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { mrtrModule } from '../fixtures/mrtr-app.js';
import { listen, type Running } from '../gateway/support.js';
import { STDIO_APP } from './connections.js';
import { messageOf, send, type Round, type RoundAnswer } from '../fixtures/raw-client.js';

const REFUSED = {
  code: -32602,
  message: 'Invalid or expired requestState',
  data: { reason: 'invalid_request_state' },
};
const EU = { region: { action: 'accept', content: { name: 'eu' } } };

describe.each(['awaited', 'returned'])('the state of a call of "%s" over stdio (2026-07-28)', name => {
  const transport = new StdioClientTransport(STDIO_APP);
  const waiting = new Map<unknown, (answer: RoundAnswer) => void>();
  let node: Running;
  let requestState: string;

  const sent = (round: Partial<Round>): Promise<RoundAnswer> =>
    new Promise((resolve, reject) => {
      const id = waiting.size + 1;
      waiting.set(id, resolve);
      const message = { ...messageOf({ name, ...round }), id } as JSONRPCMessage;
      transport.send(message).catch(reject);
    });
  const next = (state: unknown, more: Partial<Round> = {}): Promise<RoundAnswer> =>
    sent({ requestState: state, inputResponses: EU, ...more });

  beforeAll(async () => {
    transport.onmessage = message => {
      const { id } = message as { id?: unknown };
      waiting.get(id)?.(message as RoundAnswer);
    };
    await transport.start();
    node = await listen(mrtrModule());
    requestState = (await sent({})).result!.requestState!;
  }, 120_000);
  afterEach(() => jest.restoreAllMocks());
  afterAll(async () => {
    await transport.close();
    await node.app.close();
  });

  it('is good for its next round, and on another node over HTTP', async () => {
    expect((await next(requestState)).result?.content?.[0].text).toContain('eu');
    const elsewhere = await send(node.url, { name, requestState, inputResponses: EU });
    expect(elsewhere.result?.content?.[0].text).toContain('eu');
  });

  it.each<[string, () => Promise<RoundAnswer>]>([
    ['is changed', () => next(`${requestState.slice(0, 20)}~${requestState.slice(21)}`)],
    ['is cut', () => next(requestState.slice(0, -1))],
    ['is empty', () => next('')],
    ['is made up', () => next('v1.e30.AAAA')],
    ['is no text', () => next(7)],
    ['is for other arguments', () => next(requestState, { args: { a: 2 } })],
    ['is for another tool', () => next(requestState, { name: 'parallel' })],
    ['is for another method', () => next(requestState, { method: 'prompts/get', name: 'asked' })],
  ])('is refused where it %s', async (_, round) => {
    expect((await round()).error).toEqual(REFUSED);
  });

  it('is refused where its time is over', async () => {
    const now = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => now - 3_600_000);
    const { result } = await send(node.url, { name });
    expect((await next(result!.requestState)).error).toEqual(REFUSED);
  });

  it('starts again where the client drops it', async () => {
    expect(Object.keys((await sent({})).result!.inputRequests!)).toEqual(['region']);
  });

  it.each([
    ['is missing', {}],
    ['is to another question', { other: EU.region }],
  ])('asks again where an answer %s', async (_, inputResponses) => {
    const { result } = await next(requestState, { inputResponses });
    expect(Object.keys(result!.inputRequests!)).toEqual(['region']);
  });

  it('refuses an answer that is none', async () => {
    const { error } = await next(requestState, { inputResponses: { region: 'yes' } });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('cannot be used') });
  });
});
