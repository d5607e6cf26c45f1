import { CallerLimit, limitKeyOf } from './caller-limit.js';

const ADDRESS = '192.0.2.1';
const CALLER = limitKeyOf(undefined, { user: { id: 'a' } }, ADDRESS);

const limitOf = (caps: object = {}) => new CallerLimit('calls', { max: 10, maxPerCaller: 3, ...caps });

/** How many times a caller can take one more. */
function roomOf(limit: CallerLimit, caller: string): number {
  let room = 0;
  while (!limit.take(caller)) room += 1;
  return room;
}

describe('a limit of callers', () => {
  it.each([
    ['a known caller', CALLER, 3],
    ['the anonymous callers of an address', ADDRESS, 3],
  ])('has a cap for %s', (_, caller, cap) => {
    const limit = limitOf();
    expect(roomOf(limit, caller)).toBe(cap);
    expect(limit.refusal(caller)).toMatchObject({ status: 429, code: -32000, data: { statusCode: 429 } });
    limit.release(caller);
    expect(limit.take(caller)).toBeUndefined();
  });

  it('has a cap for all callers together', () => {
    const limit = limitOf({ max: 4 });
    expect([roomOf(limit, CALLER), roomOf(limit, ADDRESS)]).toEqual([3, 1]);
    expect(limit.refusal('192.0.2.2')).toMatchObject({
      status: 503,
      code: -32000,
      data: { statusCode: 503 },
    });
    limit.release(CALLER);
    expect(limit.take('192.0.2.2')).toBeUndefined();
  });

  it('takes several together, or none', () => {
    const limit = limitOf();
    expect(limit.take(CALLER, 4)).toMatchObject({ status: 429 });
    expect(limit.size).toBe(0);
    expect(limit.take(CALLER, 3)).toBeUndefined();
    limit.release(CALLER, 2);
    expect(limit.size).toBe(1);
  });

  it('forgets callers that have nothing open', () => {
    const limit = limitOf();
    for (let one = 0; one < 1000; one++) {
      limit.take(`192.0.2.${one}`);
      limit.release(`192.0.2.${one}`);
    }
    expect((limit as unknown as { counts: Map<string, number> }).counts.size).toBe(0);
  });
});

describe('the key of an anonymous caller', () => {
  const keyOf = (address: string | undefined) => limitKeyOf(undefined, {}, address);

  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8::2:3:4:5:6', '2001:db8:0:2::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
  ])('of %s is %s', (address, key) => {
    expect(keyOf(address)).toBe(key);
  });

  it.each([
    ['of no address', undefined],
    ['that looks like a caller', CALLER],
    ['in brackets', '[2001:db8::1]:443'],
  ])('%s is that of all such callers', (_, address) => {
    expect(keyOf(address)).toBe('unknown');
  });
});
