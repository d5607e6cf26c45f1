import 'reflect-metadata';
import { matchesGlob } from '../protocol/glob.js';
import { invocationOf } from '../../../test/fixtures/invocation.js';
import type { Principal } from '../protocol/types.js';
import { ToolAccess, type ToolAccessOptions } from './tool-access.js';

const TOOLS = ['read_a', 'read_b', 'drop'];
const JO: Principal = { type: 'user', id: 'jo' };
const ADMIN: Principal = { type: 'user', id: 'ann', claims: { role: 'admin' } };

function callable(options: ToolAccessOptions, principal?: Principal): string[] {
  const access = new (ToolAccess(options))();
  const context = { principal };
  const called = TOOLS.filter(
    name => (access.check(invocationOf({ name }, { context })) as { valid?: boolean }).valid === true,
  );
  const payload = { tools: TOOLS.map(name => ({ name, inputSchema: { type: 'object' } })) };
  const hidden = access.hide(invocationOf(payload, { event: 'tools/list', phase: 'response', context }));
  const listed = ((hidden ?? payload) as typeof payload).tools.map(({ name }) => name);
  expect(listed).toEqual(called);
  return called;
}

describe('ToolAccess', () => {
  it.each<[string, ToolAccessOptions, Principal | undefined, string[]]>([
    ['denies by default', { rules: [] }, JO, []],
    ['allows by option', { rules: [], otherwise: 'allow' }, JO, TOOLS],
    ['never allows the unknown by option', { rules: [], otherwise: 'allow' }, undefined, []],
    ['nor the anonymous', { rules: [], otherwise: 'allow' }, { type: 'anonymous' }, []],
    ['nor by a rule for everyone', { rules: [{ allow: ['*'] }] }, undefined, []],
    [
      'allows the anonymous by name',
      { rules: [{ principal: { type: 'anonymous' }, allow: ['read_*'] }] },
      undefined,
      ['read_a', 'read_b'],
    ],
    ['knows globs', { rules: [{ allow: ['read_*'] }] }, JO, ['read_a', 'read_b']],
    ['lets a denial win', { rules: [{ allow: ['*'] }, { deny: ['d*p'] }] }, JO, ['read_a', 'read_b']],
    ['goes by id', { rules: [{ principal: { id: ['x', 'j*'] }, allow: ['drop'] }] }, JO, ['drop']],
    ['not by another', { rules: [{ principal: { id: 'x' }, allow: ['drop'] }] }, JO, []],
    ['nor where there is none', { rules: [{ principal: { id: [] }, allow: ['drop'] }] }, JO, []],
    ['goes by type', { rules: [{ principal: { type: 'service' }, allow: ['drop'] }] }, JO, []],
    [
      'goes by claims',
      { rules: [{ principal: { claims: ({ role }) => role === 'admin' }, allow: ['*'] }] },
      ADMIN,
      TOOLS,
    ],
    [
      'not without claims',
      { rules: [{ principal: { claims: ({ role }) => role === 'admin' }, allow: ['*'] }] },
      JO,
      [],
    ],
    [
      'denies those without an id what others are denied',
      { otherwise: 'allow', rules: [{ principal: { id: 'x' }, deny: ['drop'] }] },
      { type: 'user' },
      ['read_a', 'read_b'],
    ],
    ['denies by id', { otherwise: 'allow', rules: [{ principal: { id: 'x' }, deny: ['drop'] }] }, JO, TOOLS],
  ])('%s', (_, options, principal, tools) => {
    expect(callable(options, principal)).toEqual(tools);
  });

  it('fails where a condition does, and denies what has no name', () => {
    const claims = () => {
      throw new Error('no');
    };
    expect(() => callable({ rules: [{ principal: { claims }, allow: ['*'] }] }, JO)).toThrow('no');
    const access = new (ToolAccess({ rules: [], otherwise: 'allow' }))();
    expect(access.check(invocationOf({ name: ['drop'] }))).toEqual({
      message: 'This tool is not available to you',
      path: 'name',
      severity: 'error',
    });
  });
});

it.each([
  ['*', '', true],
  ['a*', 'ab', true],
  ['a*a', 'a', false],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['*b*', 'abc', true],
  ['a.c', 'abc', false],
  ['abc', 'abcd', false],
  ['*a*a*a*a*a*b', 'a'.repeat(100_000), false],
])('the glob %s matches %.10s: %s', (pattern, name, expected) => {
  expect(matchesGlob(pattern, name)).toBe(expected);
});
