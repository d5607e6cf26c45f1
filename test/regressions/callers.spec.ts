import { callerOf } from '../../lib/server/caller.js';

const caller = (user: unknown) => callerOf(undefined, { user });

class Keyed {
  readonly #email: string;
  constructor(email: string) {
    this.#email = email;
  }
  get email() {
    return this.#email;
  }
}

describe('a user without id, sub and username', () => {
  it('is known by all else that is known of it, in whatever order', () => {
    expect(caller({ email: 'a', roles: ['x'] })).toBe(caller({ roles: ['x'], email: 'a' }));
    for (const other of [{ email: 'b' }, { userId: 'a' }, { email: 'a', roles: ['x'] }, {}, undefined, 'a']) {
      expect(caller(other)).not.toBe(caller({ email: 'a' }));
    }
    expect(caller({ _id: 1n })).not.toBe(caller({ _id: 2n }));
    expect(caller({ since: new Date(0) })).not.toBe(caller({ since: new Date(1) }));
  });

  it.each([
    ['keeps its data to itself', () => new Keyed('a')],
    ['has a part that does', () => ({ claims: new Map([['email', 'a']]) })],
    [
      'goes round in a circle',
      () => {
        const user: Record<string, unknown> = { email: 'a' };
        return Object.assign(user, { self: user });
      },
    ],
  ])('is like no other where it %s', (_what, make) => {
    const user = make();
    expect(caller(user)).not.toBe(caller(user));
  });
});
