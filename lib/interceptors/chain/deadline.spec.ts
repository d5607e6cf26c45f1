import { Chain } from './chain.js';
import { LOCAL_HOST, type ChainEntry } from './entry.js';
import { VALID } from '../protocol/read-result.js';

const MESSAGE = { event: 'tools/call', phase: 'request', direction: 'receive', payload: {} } as const;

const validator = (name: string, invoke: ChainEntry['invoke']): ChainEntry => ({
  host: LOCAL_HOST,
  descriptor: { name, type: 'validation', hooks: [{ events: ['tools/call'], phase: 'request' }] },
  invoke,
});

describe('a run for a call that creates its signal on demand', () => {
  const signals = jest.fn(() => new AbortController().signal);
  const callThat = (isEnded: boolean) => ({
    isEnded,
    get signal() {
      return signals();
    },
  });

  beforeEach(() => signals.mockClear());

  it('does not create the signal for interceptors that return at once', async () => {
    const chain = new Chain([validator('a', () => VALID), validator('b', () => VALID)]);
    expect(await chain.run(MESSAGE, undefined, callThat(false))).toMatchObject({ status: 'success' });
    expect(signals).not.toHaveBeenCalled();
  });

  it('creates it to wait for an interceptor', async () => {
    const chain = new Chain([validator('a', async () => VALID)]);
    expect(await chain.run(MESSAGE, undefined, callThat(false))).toMatchObject({ status: 'success' });
    expect(signals).toHaveBeenCalled();
  });

  it('starts no interceptor after the call has ended', async () => {
    const invoke = jest.fn(() => VALID);
    const result = await new Chain([validator('a', invoke)]).run(MESSAGE, undefined, callThat(true));
    expect(result).toMatchObject({ status: 'timeout' });
    expect(invoke).not.toHaveBeenCalled();
  });
});
