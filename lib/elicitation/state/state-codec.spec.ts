import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server';
import { InvalidStateError, StateCodec } from './state-codec.js';

const TTL = 600;
const KEY = Buffer.alloc(32, 'k');
const own = new StateCodec(KEY, TTL);
const asContext = (binding: string) => binding as unknown as ServerContext;
const sdks = createRequestStateCodec<string>({
  key: KEY,
  ttlSeconds: TTL,
  bind: context => context as unknown as string,
});

describe('the signature of a state', () => {
  afterEach(() => jest.useRealTimers());

  it("has the form of the SDK's codec, so that each opens what the other signed", async () => {
    const text = 'j{"city":"Zürich 🚲"}';
    expect(await sdks.verify(own.mint(text, 'jo'), asContext('jo'))).toBe(text);
    expect(own.verify(await sdks.mint(text, asContext('jo')), 'jo')).toBe(text);
  });

  it.each([
    ['of another binding', (state: string) => own.verify(state, 'al'), 'bind'],
    ['of another key', (state: string) => new StateCodec(Buffer.alloc(32), TTL).verify(state, 'jo'), 'mac'],
    ['without a signature', (state: string) => own.verify(state.split('.', 2).join('.'), 'jo'), 'malformed'],
    ['of another form', (state: string) => own.verify(state.replace('v1', 'v2'), 'jo'), 'malformed'],
    ['with a longer signature', (state: string) => own.verify(`${state}A`, 'jo'), 'mac'],
    ['with an empty signature', (state: string) => own.verify(state.replace(/[^.]+$/, ''), 'jo'), 'mac'],
    ['with a signature in another spelling', (state: string) => own.verify(`${state}=`, 'jo'), 'mac'],
  ])('%s is refused', (_, verify, reason) => {
    const state = own.mint('text', 'jo');
    expect(() => verify(state)).toThrow(new InvalidStateError(reason));
  });

  it.each(['text', ''])('is refused after any change of one character (%j)', text => {
    const state = own.mint(text, 'jo');
    for (const place of state.split('').keys()) {
      const other = state[place] === 'A' ? 'B' : 'A';
      expect(() => own.verify(state.slice(0, place) + other + state.slice(place + 1), 'jo')).toThrow(
        InvalidStateError,
      );
    }
  });

  it('expires', () => {
    jest.useFakeTimers();
    const state = own.mint('text', 'jo');
    jest.advanceTimersByTime(TTL * 1000);
    expect(own.verify(state, 'jo')).toBe('text');
    jest.advanceTimersByTime(1000);
    expect(() => own.verify(state, 'jo')).toThrow(new InvalidStateError('expired'));
  });
});
