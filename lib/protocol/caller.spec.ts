import type { AuthInfo } from '@modelcontextprotocol/server';
import { callerOf } from './caller.js';

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

describe('a token without a subject in its extra data', () => {
  const of = (extra?: Record<string, unknown>, rest: Partial<AuthInfo> = {}) =>
    callerOf({ token: 't', clientId: 'app', scopes: [], ...rest, ...(extra && { extra }) }, undefined);

  it('is known by all else that is known of it, in whatever order', () => {
    expect(of({ userId: 'a', org: { id: 1, name: 'x' } })).toBe(
      of({ org: { name: 'x', id: 1 }, userId: 'a' }),
    );
    for (const other of [{ userId: 'b' }, { user: { id: 'a' } }, { userId: 'a', org: 1 }, {}, undefined]) {
      expect(of(other)).not.toBe(of({ userId: 'a' }));
    }
    expect(of({ user: { id: 'a' } })).not.toBe(of({ user: { id: 'b' } }));
    expect(of({ sub: null, userId: 'a' })).not.toBe(of({ sub: null, userId: 'b' }));
  });

  it('may be refreshed', () => {
    const later = { exp: 2, iat: 2, jti: '2', accessToken: '2', expires_at: 2, expiresAt: 2 };
    expect(of({ userId: 'a', exp: 1, iat: 1, jti: '1', accessToken: '1' })).toBe(
      of({ userId: 'a', ...later }, { token: 'u', expiresAt: 2 }),
    );
    expect(of(later)).toBe(of());
  });

  it('may get broader, and may come from another login', () => {
    const extra = { userId: 'a', scope: 'a', scp: ['a'], scopes: ['a'], sid: '1', uti: '1' };
    expect(of({ ...extra, scope: 'a b', scp: ['a', 'b'], scopes: ['a', 'b'], sid: '2', uti: '2' })).toBe(
      of(extra),
    );
  });

  it('is like no other where it keeps its data to itself', () => {
    const extra = { user: new Keyed('a') };
    expect(of(extra)).not.toBe(of(extra));
  });

  it('goes by its subject where it has one', () => {
    expect(of({ sub: 'a', roles: ['x'] })).toBe(of({ sub: 'a', roles: ['y'] }));
    expect(of({ sub: 'a' })).not.toBe(of({ sub: 'b' }));
  });
});

it('the subject of another issuer is another caller', () => {
  const of = (iss?: string) =>
    callerOf({ token: 't', clientId: 'c', scopes: [], extra: { sub: 'ada', iss } }, undefined);
  expect(new Set([of(), of('https://one.example'), of('https://other.example')]).size).toBe(3);
  expect(of('https://one.example')).toBe(of('https://one.example'));
});
