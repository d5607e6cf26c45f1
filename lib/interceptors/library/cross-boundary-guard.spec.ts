import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Logger } from '@nestjs/common';
import { CrossBoundaryGuard, type CrossBoundaryGuardOptions } from './cross-boundary-guard.js';
import { ExchangeBag } from '../messages/context.js';
import { invocationOf } from '../../../test/fixtures/invocation.js';
import { SECRETS, TOKENS } from '../../../test/fixtures/secrets.js';
import { invokerOf, stateKeyOf } from './sessions.js';
import { SecretLedger } from './secrets/secret-ledger.js';

const [token] = SECRETS['github-token'];
const base64 = (text: string) => Buffer.from(text).toString('base64');

function guardOf(options?: CrossBoundaryGuardOptions) {
  const guard = new (CrossBoundaryGuard(options))();
  const context = (session?: string) => ({
    context: session === undefined ? undefined : { sessionId: session },
  });
  return {
    read: (tool: string, text: unknown, session?: string, rest = {}) =>
      guard.record(
        invocationOf(
          { content: [{ type: 'text', text }] },
          { phase: 'response', request: { name: tool }, ...context(session), ...rest },
        ),
      ),
    maySend: (tool: string, args: unknown, session?: string, rest = {}) =>
      (
        guard.check(invocationOf({ name: tool, arguments: args }, { ...context(session), ...rest })) as {
          valid?: true;
        }
      ).valid === true,
  };
}

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

describe('CrossBoundaryGuard', () => {
  let warn: jest.SpyInstance;
  beforeEach(() => (warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined)));
  afterEach(() => warn.mockRestore());

  it.each(TOKENS)('keeps what one tool read from another: %s', secret => {
    const guard = guardOf();
    guard.read('vault', `the key: ${secret}`, 'a');
    expect(guard.maySend('mail', { body: `x ${secret} y` }, 'a')).toBe(false);
    expect(guard.maySend('vault', { body: secret }, 'a')).toBe(true);
    expect(guard.maySend('mail', { body: secret }, 'b')).toBe(true);
    expect(guard.maySend('mail', { body: 'nothing' }, 'a')).toBe(true);
  });

  it.each<[string, unknown]>([
    ['as a key', { [token]: 1 }],
    ['in base64', { a: base64(token) }],
    ['in hexadecimal', { a: Buffer.from(token).toString('hex') }],
    ['percent-encoded', { a: token.replace(/./g, unit => `%${unit.charCodeAt(0).toString(16)}`) }],
    ['in the other case', { a: token.toLowerCase() }],
    ['with spaces', { a: [...token].join(' ') }],
    ['with dashes and zero-width spaces', { a: [...token].join('-\u200b') }],
    ['in two arguments', { a: token.slice(0, 20), b: token.slice(20) }],
    ['in a list of characters', { a: [...token] }],
    [
      'in keys and their values',
      { [token.slice(0, 10)]: token.slice(10, 20), [token.slice(20, 30)]: token.slice(30) },
    ],
    ['in keys with values between', { [token.slice(0, 20)]: 'x', [token.slice(20)]: 'y' }],
    ['glued to words', { a: `xx${token}yy` }],
    ['without its head', { a: token.slice(4) }],
    ['cut short', { a: token.slice(0, 35) }],
    ['in full width', { a: token.replace(/\w/g, unit => String.fromCharCode(unit.charCodeAt(0) + 0xfee0)) }],
    ['in JSON in JSON', { a: JSON.stringify(JSON.stringify([token])) }],
  ])('knows a secret %s', (_, args) => {
    const guard = guardOf();
    guard.read('vault', token, 'a');
    expect(guard.maySend('mail', args, 'a')).toBe(false);
  });

  it('does not take another secret of the same kind for it', () => {
    const [jwt] = SECRETS.jwt;
    const pem = `-----BEGIN PRIVATE KEY-----\n${randomBytes(600).toString('base64')}\n-----END PRIVATE KEY-----`;
    const guard = guardOf();
    guard.read('vault', `${jwt} ${pem}`, 'a');
    expect(
      guard.maySend('mail', { a: `${jwt.slice(0, jwt.lastIndexOf('.'))}.${'Zz9'.repeat(14)}` }, 'a'),
    ).toBe(true);
    expect(guard.maySend('mail', { a: pem.slice(0, 60) }, 'a')).toBe(true);
    expect(guard.maySend('mail', { a: pem.slice(400, 440) }, 'a')).toBe(false);
  });

  it('knows what the application calls a secret', () => {
    const guard = guardOf({ isSecret: text => text === 'correct horse' });
    guard.read('vault', 'correct horse', 'a');
    expect(guard.maySend('mail', { a: 'It is CorrectHorse!' }, 'a')).toBe(false);
  });

  it('knows what the key above a value calls a secret', () => {
    const guard = new (CrossBoundaryGuard())();
    const value = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
    const structuredContent = { aws_secret: { value } };
    guard.record(invocationOf({ structuredContent }, { phase: 'response', request: { name: 'vault' } }));
    expect(guard.check(invocationOf({ name: 'mail', arguments: { value } }))).toMatchObject({
      severity: 'error',
    });
  });

  it('lets a secret take the ways that are allowed', () => {
    const guard = guardOf({ allow: [{ from: 'tool:vault_*', to: 'tool:deploy' }] });
    guard.read('vault_1', token, 'a');
    expect([guard.maySend('deploy', { token }, 'a'), guard.maySend('mail', { token }, 'a')]).toEqual([
      true,
      false,
    ]);
  });

  it('lets a secret go where it was read as well', () => {
    const guard = guardOf();
    guard.read('vault', token, 'a');
    guard.read('mail', token, 'a');
    expect(guard.maySend('mail', { token }, 'a')).toBe(true);
  });

  it('goes by the principal without a session, and by the exchange without either', () => {
    const guard = guardOf();
    const jo = { context: { principal: { type: 'user', id: 'jo' } } };
    guard.read('vault', token, undefined, jo);
    expect(guard.maySend('mail', { token }, undefined, jo)).toBe(false);
    const bag = new Map();
    guard.read('vault', token, undefined, { bag });
    expect(guard.maySend('mail', { token }, undefined, { bag })).toBe(false);
    expect(guard.maySend('mail', { token }, undefined)).toBe(true);
  });

  it('says once that it keeps nothing from anywhere for whoever has neither', () => {
    const guard = guardOf({ name: 'mine' });
    guard.read('vault', token, 'a');
    expect(warn).not.toHaveBeenCalled();
    guard.read('vault', token);
    expect(guard.maySend('mail', { token })).toBe(true);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/^mine cannot group the messages/)]]);
  });

  it('watches several servers by one ledger', () => {
    const ledger = new SecretLedger();
    const [billing, crm] = ['billing', 'crm'].map(origin => guardOf({ origin, ledger }));
    billing.read('a', token, 's');
    expect([billing.maySend('b', { token }, 's'), crm.maySend('a', { token }, 's')]).toEqual([true, false]);
  });

  it('forgets no session for those that an invoker makes up', () => {
    const guard = guardOf({ ledger: { maxSessions: 1 } });
    const by = (id: string | undefined, sessionId?: string) => ({
      bag: new ExchangeBag({}, {}, { sessionId, ...(id && { principal: { type: 'service' as const, id } }) }),
    });
    guard.read('vault', token, 'a');
    guard.read('vault', token, 'b', by('host'));
    for (const made of ['c', 'd', 'e']) guard.read('vault', token, made, by(undefined, made));
    expect([
      guard.maySend('mail', { token }, 'a'),
      guard.maySend('mail', { token }, 'b', by('host')),
      guard.maySend('mail', { token }, 'd', by(undefined, 'd')),
      guard.maySend('mail', { token }, 'e', by(undefined, 'f')),
    ]).toEqual([false, false, true, false]);
  });

  it('tells the side by what is read or asked for', () => {
    const ledger = new SecretLedger();
    const guard = new (CrossBoundaryGuard({ ledger }))();
    const resource = (phase: 'request' | 'response', uri: string, payload: object) =>
      invocationOf(payload, { event: 'resources/read', phase, request: { uri } });
    guard.record(resource('response', 'vault://a/1', { contents: [{ uri: 'vault://a/1', text: token }] }));
    const check = (uri: string) => guard.check(resource('request', uri, { uri }));
    expect(check(`vault://a/${token}`)).toEqual({ valid: true });
    expect(check(`web://a/${token}`)).toMatchObject({ severity: 'error' });
  });

  const message = (event: string, says: object = {}) => ({ event, says });

  // A payload says what its sender likes: what names nothing by the protocol is at most a side of its own event.
  it.each([
    [
      'where it was read',
      message('acme/use', { name: 'vault' }),
      message('acme/use', { name: 'vault' }),
      true,
    ],
    [
      'within a place',
      message('acme/use', { uri: 'a://b/1' }),
      message('acme/use', { uri: 'a://b/2' }),
      true,
    ],
    ['to another name', message('acme/use', { name: 'vault' }), message('acme/use', { name: 'mail' }), false],
    ['to another place', message('acme/use', { uri: 'a://b' }), message('acme/use', { uri: 'a://c' }), false],
    [
      'to another name with the place',
      message('acme/use', { name: 'vault', uri: 'a://b' }),
      message('acme/use', { name: 'mail', uri: 'a://b' }),
      false,
    ],
    [
      'to a name that spells the place',
      message('acme/use', { name: 'vault', uri: 'a://b' }),
      message('acme/use', { name: 'vault:a://b' }),
      false,
    ],
    [
      'to a name that spells the place alone',
      message('acme/use', { uri: 'a://b/1' }),
      message('acme/use', { name: 'a://b' }),
      false,
    ],
    [
      'to a place that spells the name',
      message('acme/use', { name: 'b c', uri: 'a://d' }),
      message('acme/use', { name: 'c', uri: 'a://d b' }),
      false,
    ],
    ['to another event', message('vault/read', { name: 'db' }), message('mail/send', { name: 'db' }), false],
    [
      'from a prompt',
      message('prompts/get', { name: 'vault' }),
      message('acme/mail', { name: 'vault' }),
      false,
    ],
    ['from a tool', message('tools/call', { name: 'vault' }), message('acme/mail', { name: 'vault' }), false],
    [
      'from a resource',
      message('resources/read', { uri: 'a://b' }),
      message('acme/mail', { uri: 'a://b' }),
      false,
    ],
    [
      'from a resource to what names none',
      message('resources/read', { uri: 'a://b' }),
      message('completion/complete', { ref: { type: 'ref/resource' }, uri: 'a://b' }),
      false,
    ],
  ])('goes by event and name where the protocol has no word for it: %s', (_, from, to, valid) => {
    const guard = new (CrossBoundaryGuard())();
    guard.record(invocationOf({ text: token }, { event: from.event, phase: 'response', request: from.says }));
    const verdict = guard.check(invocationOf({ ...to.says, text: token }, { event: to.event }));
    expect(verdict).toMatchObject(valid ? { valid } : { severity: 'error' });
  });

  it.each<[string, string, (long: string) => object]>([
    ['a tool', 'tools/call', name => ({ name })],
    ['a name of its own', 'acme/use', name => ({ name })],
    ['an authority', 'resources/read', name => ({ uri: `a://${name}/` })],
    ['a path', 'resources/read', name => ({ uri: `a://vault.example.com/${name}` })],
  ])('keeps little of what is long: %s', (_, event, says) => {
    const guard = new (CrossBoundaryGuard())();
    // With nothing in common: comparing the places of what two of them share makes V8 copy those.
    const tokens = Array.from({ length: 40 }, () => `ghp_${randomBytes(18).toString('hex')}`);
    const before = heapUsed();
    for (const [call, text] of tokens.entries()) {
      // As it comes from a parser: not put together of parts that others hold as well.
      const request: unknown = JSON.parse(JSON.stringify(says('x'.repeat(500_000) + String(call))));
      guard.record(invocationOf({ text }, { event, phase: 'response', request }));
    }
    expect(heapUsed() - before).toBeLessThan(5_000_000);
    expect(guard.check(invocationOf({ name: 'mail', text: tokens[0] }))).toMatchObject({ severity: 'error' });
  });

  it('tells long names apart, and knows them by their beginning', () => {
    const long = 'x'.repeat(200);
    const guard = guardOf({ allow: [{ from: 'tool:v*', to: 'tool:deploy' }] });
    guard.read(`v${long}1`, token, long);
    const maySend = [`v${long}1`, `v${long}2`, 'deploy'].map(tool => guard.maySend(tool, { token }, long));
    expect(maySend).toEqual([true, false, true]);
    expect(guard.maySend('mail', { token }, `${long}2`)).toBe(true);
  });

  it('keeps a session’s key apart from an invoker’s, and from one like it', () => {
    const keys = ['a', 'own:a', 'invoked:a', 'own:invoked:a'];
    const given = keys.map(key => stateKeyOf(invocationOf({}), key));
    expect(new Set(given).size).toBe(keys.length);
    expect(given.map(invokerOf)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('forgets nothing for those that only look', () => {
    const guard = guardOf();
    const by = (id: string) => ({
      bag: new ExchangeBag({}, {}, { principal: { type: 'service' as const, id } }),
    });
    guard.read('vault', token, 'a', by('\ud800'));
    for (let id = 0; id < 200; id++) guard.maySend('mail', { token }, 'a', by(String(id)));
    expect(guard.maySend('mail', { token }, 'a', by('\ud800'))).toBe(false);
  });

  it('never tells or keeps a secret', () => {
    const ledger = new SecretLedger();
    const guard = new (CrossBoundaryGuard({ ledger }))();
    guard.record(invocationOf({ a: token }, { phase: 'response', request: { name: 'vault' } }));
    const denial = guard.check(invocationOf({ name: 'mail', arguments: { token } }));
    for (const text of [JSON.stringify(denial), inspect(ledger, { depth: 9, showHidden: true })]) {
      expect(text.toLowerCase()).not.toContain(token.slice(4, 14).toLowerCase());
    }
  });
});
