import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { INTERCEPTOR_METADATA } from '../../constants.js';
import type { InterceptorMetadata } from '../../decorators/interceptor-options.js';
import { Chain } from '../chain/chain.js';
import type { Invocation } from '../chain/entry.js';
import { describe as descriptorOf } from '../hosts/check-options.js';
import * as library from '../index.js';
import { SECRETS } from './secrets/secrets.fixtures.js';

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
      when: () => true,
    };
    const methods = methodsOf(create(options));
    expect(methods.length).toBeGreaterThan(0);
    for (const { metadata } of methods) {
      expect(metadata.options).toMatchObject({ ...options, name: expect.stringMatching(/^mine(-|$)/) });
    }
  });
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
