import 'reflect-metadata';
import * as library from '../index.js';
import type { Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { INTERCEPTOR_METADATA, type InterceptorMetadata } from '../decorators/interceptor.decorators.js';
import { Chain } from '../chain/chain.js';
import type { Invocation } from '../chain/result.js';
import { describe as descriptorOf } from '../local/check-options.js';
import { SECRETS } from '../../../test/fixtures/secrets.js';

const factories: Readonly<Record<string, (options: object) => Type<object>>> = {
  SecretRedactor: options => library.SecretRedactor(options),
  CrossBoundaryGuard: options => library.CrossBoundaryGuard(options),
  SizeLimit: options => library.SizeLimit(options),
  RateLimit: options => library.RateLimit(options),
  JsonSchemaValidator: options => library.JsonSchemaValidator({ rules: [{ schema: {} }], ...options }),
  ToolAccess: options => library.ToolAccess({ rules: [{ allow: ['*'] }], ...options }),
};

function methodsOf({ prototype }: Type<object>) {
  return Object.entries(Object.getOwnPropertyDescriptors(prototype)).flatMap(([method, { value }]) =>
    ((Reflect.getMetadata(INTERCEPTOR_METADATA, value as object) ?? []) as InterceptorMetadata[]).map(
      metadata => ({ method, metadata, descriptor: descriptorOf(metadata, method) }),
    ),
  );
}

describe.each(Object.entries(factories))('%s', (name, create) => {
  it('is declared as the module wants it, under its own names', () => {
    const names = methodsOf(create({})).map(({ descriptor }) => descriptor.name);
    expect(new Set(names).size).toBe(names.length);
    expect(create({ name: 'mine' }).name).toBe(`${name}(mine)`);
  });

  it('hands the common options on', () => {
    const options = {
      name: 'mine',
      mode: 'audit',
      failOpen: true,
      server: 'admin',
      timeoutMs: 5,
      inputRequired: true,
      when: () => true,
    };
    const methods = methodsOf(create(options));
    expect(methods.length).toBeGreaterThan(0);
    for (const { metadata } of methods) {
      expect(metadata.options).toMatchObject({ ...options, name: expect.stringMatching(/^mine(-|$)/) });
    }
  });
});

it.each<[string, () => unknown, string]>([
  [
    'SecretRedactor',
    () => library.SecretRedactor({ kinds: ['github-tokn' as never] }),
    '"kinds[0]" must be "',
  ],
  [
    'SecretRedactor',
    () => library.SecretRedactor({ patterns: [{ pattern: /a/ } as never] }),
    '"patterns[0].kind" must be a non-empty string',
  ],
  [
    'SecretRedactor',
    () => library.SecretRedactor({ entropy: { treshold: 1 } as object }),
    'unknown option "entropy.treshold"; known are minLength,',
  ],
  [
    'SecretRedactor',
    () => library.SecretRedactor({ entropy: { gitShas: 'no' as never } }),
    '"entropy.gitShas" must be true or false',
  ],
  [
    'CrossBoundaryGuard',
    () => library.CrossBoundaryGuard({ ledger: { maxSesions: 1 } as object }),
    'unknown option "ledger.maxSesions"; known are maxSessions,',
  ],
  ['RateLimit', () => library.RateLimit({ cost: NaN }), '"cost" must be a number, 0 or more'],
  ['RateLimit', () => library.RateLimit({ cost: -1 }), '"cost" must be a number, 0 or more'],
  ['SizeLimit', () => library.SizeLimit(null as never), 'options must be an object'],
  [
    'SizeLimit',
    () => library.SizeLimit({ maxByte: 1 } as object),
    'unknown option "maxByte"; known are maxBytes,',
  ],
  ['RateLimit', () => library.RateLimit({ point: 1 } as object), 'unknown option "point"; known are points,'],
  [
    'RateLimit',
    () => library.RateLimit({ key: 'caller' as never }),
    '"key" must be "principal", "session" or "tool"',
  ],
  ['RateLimit', () => library.RateLimit({ key: [] }), '"key" must be'],
  ['RateLimit', () => library.RateLimit({ points: 0 }), '"points" must be a whole number'],
  ['RateLimit', () => library.RateLimit({ blockDuration: -1 }), '"blockDuration" must be whole seconds'],
  ['SizeLimit', () => library.SizeLimit({ maxBytes: 0.5 }), '"maxBytes" must be a whole number'],
  ['ToolAccess', () => library.ToolAccess(undefined as never), 'options must be an object'],
  ['ToolAccess', () => library.ToolAccess({} as never), '"rules" must be a list of { principal'],
  [
    'ToolAccess',
    () => library.ToolAccess({ rules: [{ allows: ['a'] } as object] }),
    'unknown option "rules[0].allows"; known are principal, allow, deny',
  ],
  [
    'ToolAccess',
    () => library.ToolAccess({ rules: [{ allow: 'a' as never }] }),
    '"rules[0].allow" must be a list',
  ],
  [
    'ToolAccess',
    () => library.ToolAccess({ rules: [{ principal: { role: 'a' } as object }] }),
    'unknown option "rules[0].principal.role"; known are type, id, claims',
  ],
  [
    'ToolAccess',
    () => library.ToolAccess({ rules: [], otherwise: 'maybe' as never }),
    '"otherwise" must be "allow"',
  ],
  [
    'CrossBoundaryGuard',
    () => library.CrossBoundaryGuard({ allow: [{ from: 'a' } as never] }),
    '"allow[0].to" must be a non-empty string',
  ],
  [
    'CrossBoundaryGuard',
    () => library.CrossBoundaryGuard({ limits: { maxChars: 0 } }),
    '"limits.maxChars" must be',
  ],
  [
    'SecretRedactor',
    () => library.SecretRedactor({ kinds: 'jwt' as never }),
    '"kinds" must be a list of some of',
  ],
  [
    'SecretRedactor',
    () => library.SecretRedactor({ ignore: ['a'] as never }),
    '"ignore[0]" must be a regular expression',
  ],
  [
    'JsonSchemaValidator',
    () => library.JsonSchemaValidator({} as never),
    '"rules" must be a list of { event',
  ],
  [
    'JsonSchemaValidator',
    () => library.JsonSchemaValidator({ rules: [] }),
    '"rules" must be a list of { event',
  ],
  [
    'JsonSchemaValidator',
    () => library.JsonSchemaValidator({ rules: [{ tool: 'a', schema: {} } as never] }),
    'unknown option "rules[0].tool"; known are event,',
  ],
])('a mistake in the options of %s is told where it is made: %#', (name, create, problem) => {
  expect(create).toThrow(new RegExp(`^${name}:? ${problem.replace(/[{}[\]().]/g, '\\$&')}`));
});

it('they govern a chain together, built by the container', async () => {
  const classes = Object.values(factories).map(create => create({}));
  const module = await Test.createTestingModule({ providers: classes }).compile();
  const entries = classes.flatMap(Class => {
    const instance = module.get<Record<string, (invocation: Invocation) => unknown>>(Class);
    return methodsOf(Class).map(({ method, metadata, descriptor }) => ({
      host: 'local',
      descriptor,
      traits: metadata.options,
      invoke: (invocation: Invocation) => {
        const value = instance[method](invocation);
        return shape(metadata, value);
      },
    }));
  });
  const chain = new Chain(entries);
  const [token] = SECRETS['github-token'];
  const shared = { event: 'tools/call', context: { principal: { type: 'user' as const, id: 'jo' } } };
  const request = { name: 'echo', arguments: { text: `my ${token}` } };
  const received = await chain.execute({
    ...shared,
    phase: 'request',
    direction: 'receive',
    payload: request,
  });
  expect(received).toMatchObject({
    status: 'success',
    finalPayload: { name: 'echo', arguments: { text: 'my [REDACTED:github-token]' } },
  });
  const sent = await chain.execute({
    ...shared,
    phase: 'response',
    direction: 'send',
    request,
    payload: { content: [{ type: 'text', text: token }] },
  });
  expect(sent).toMatchObject({
    status: 'success',
    finalPayload: { content: [{ text: '[REDACTED:github-token]' }] },
  });
  const named = await chain.execute({
    ...shared,
    phase: 'request',
    direction: 'receive',
    payload: { name: token, arguments: {} },
  });
  expect(named.status).toBe('mutation_failed');
});

/** What the module makes of what a method returns. */
function shape({ type }: InterceptorMetadata, value: unknown): unknown {
  if (value instanceof Promise) return value.then(settled => shape({ type, options: {} }, settled));
  return type === 'mutation' ? (value ?? { modified: false }) : value;
}
