import { MemoryMrtrStore } from './mrtr-store.js';
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

  it('of which the store has something else is refused', async () => {
    const store = new MemoryMrtrStore();
    const states = new RequestState({ ...settings, maxStateBytes: 1, store });
    const state = await states.seal(long, 'jo');
    jest.spyOn(store, 'get').mockResolvedValue('?');
    await expect(states.open(state, 'jo')).rejects.toThrow(new InvalidStateError('it has an unknown form'));
  });
});
