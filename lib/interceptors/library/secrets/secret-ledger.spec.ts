import { SecretLedger, SecretLedgerFullError } from './secret-ledger.js';

describe('SecretLedger', () => {
  const known = (ledger: SecretLedger, key: string) => ledger.originsIn(key, () => ['abcdefgh']);

  it('forgets after its time', () => {
    let now = 0;
    const ledger = new SecretLedger({ ttlMs: 100, now: () => now });
    ledger.record('s', 'a', ['abcdefgh']);
    now = 99;
    expect(known(ledger, 's')).toEqual([['a']]);
    now = 100;
    expect(known(ledger, 's')).toEqual([]);
  });

  it('forgets the session that was not used for longest', () => {
    const ledger = new SecretLedger({ maxSessions: 2 });
    for (const key of ['1', '2']) ledger.record(key, 'a', ['abcdefgh']);
    known(ledger, '1');
    ledger.record('3', 'a', ['abcdefgh']);
    expect(['1', '2', '3'].map(key => known(ledger, key).length)).toEqual([1, 0, 1]);
  });

  it('does not lose a secret to others: it refuses more than it can remember', () => {
    const ledger = new SecretLedger({ maxSecrets: 1 });
    ledger.record('s', 'a', ['abcdefgh']);
    expect(() => ledger.record('s', 'a', ['ijklmnop'])).toThrow(SecretLedgerFullError);
    expect(known(ledger, 's')).toEqual([['a']]);
  });

  it('remembers of each secret the places where it was last read', () => {
    const ledger = new SecretLedger();
    for (const place of ['a', 'b', 'a']) ledger.record('s', place, ['abcdefgh']);
    for (let place = 0; place < 15; place++) ledger.record('s', String(place), ['abcdefgh']);
    expect(known(ledger, 's')).toEqual([['a', ...Array.from({ length: 15 }, (_, place) => String(place))]]);
    ledger.record('s', 'c', ['abcdefgh']);
    expect(known(ledger, 's')[0]).toHaveLength(16);
    expect(known(ledger, 's')[0]).not.toContain('a');
  });

  it.each([{ maxSessions: 0 }, { maxSecrets: 1.5 }, { ttlMs: -1 }])('checks its bounds: %j', options => {
    expect(() => new SecretLedger(options)).toThrow(RangeError);
  });
});
