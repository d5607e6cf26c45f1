import { MemoryMrtrStore } from '../../stores/mrtr-store.js';
import { InvalidStateError, RequestState } from './request-state.js';

const settings = {
  secrets: ['a secret of more than thirty-two bytes'],
  ttlSeconds: 600,
  encrypt: false,
  maxStateBytes: 16_384,
  maxJournalBytes: 1_048_576,
  singleUse: false,
};
const long = { answers: 'a'.repeat(1000) };

describe('a sealed state', () => {
  it.each([false, true])('opens as it was, compressed and encrypted (%j) or not', async encrypt => {
    const states = new RequestState({ ...settings, encrypt });
    for (const value of [{ answers: 'a' }, long]) {
      expect(await states.open(await states.seal(value, 'jo'), 'jo')).toEqual(value);
    }
  });

  it.each([undefined, 7, {}])('is a text, which %j is not', async state => {
    await expect(new RequestState(settings).open(state, 'jo')).rejects.toThrow(
      new InvalidStateError('it is not a text'),
    );
  });

  it('that holds more than may be remembered by now is refused', async () => {
    const state = await new RequestState(settings).seal(long, 'jo');
    const stricter = new RequestState({ ...settings, maxJournalBytes: 100 });
    await expect(stricter.open(state, 'jo')).rejects.toThrow(new InvalidStateError('it cannot be read'));
  });

  it.each([false, true])('opens only with the text that was stored for it (encrypted: %j)', async encrypt => {
    const store = new MemoryMrtrStore();
    const set = jest.spyOn(store, 'set');
    const states = new RequestState({ ...settings, encrypt, maxStateBytes: 1, store });
    const state = await states.seal(long, 'jo');
    await states.seal({ answers: 'of another call' }, 'jo');
    expect(await states.open(state, 'jo')).toEqual(long);
    const [key] = set.mock.calls[0];
    for (const text of ['?', 'j{}', set.mock.calls[1][1]]) {
      await store.set(key, text, 600);
      await expect(states.open(state, 'jo')).rejects.toThrow(
        new InvalidStateError('the store has another text for it'),
      );
    }
  });

  it.each([16_384, 1])('that is not encrypted is refused if states have to be (bytes: %d)', async bytes => {
    const own = { ...settings, maxStateBytes: bytes, store: new MemoryMrtrStore() };
    const encrypting = new RequestState({ ...own, encrypt: true });
    for (const value of [{ answers: 'a' }, long]) {
      const state = await new RequestState(own).seal(value, 'jo');
      await expect(encrypting.open(state, 'jo')).rejects.toThrow(
        new InvalidStateError('it is not encrypted'),
      );
    }
  });
});
