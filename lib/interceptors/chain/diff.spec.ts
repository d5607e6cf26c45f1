import fc from 'fast-check';
import { diffOf, type PatchOperation } from './diff.js';

type Node = Record<string, unknown> | unknown[];

/** Applies a patch as RFC 6902 says, to a copy. */
function patched(document: unknown, operations: readonly PatchOperation[]): unknown {
  let root = structuredClone(document);
  for (const operation of operations) {
    const value = operation.op === 'remove' ? undefined : operation.value;
    if (operation.path === '') {
      root = value;
      continue;
    }
    const keys = operation.path
      .split('/')
      .slice(1)
      .map(key => key.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = keys.pop()!;
    const parent = keys.reduce((node, key) => (node as Record<string, unknown>)[key] as Node, root as Node);
    if (Array.isArray(parent))
      parent.splice(
        Number(last),
        operation.op === 'add' ? 0 : 1,
        ...(operation.op === 'remove' ? [] : [value]),
      );
    else if (operation.op === 'remove') delete parent[last];
    else Object.defineProperty(parent, last, { value, enumerable: true, configurable: true, writable: true });
  }
  return root;
}

const asJson = (value: unknown) => JSON.stringify(value, (_key, item: unknown) => sorted(item));
const sorted = (item: unknown): unknown =>
  typeof item === 'object' && item !== null && !Array.isArray(item)
    ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
    : item;

it('a patch makes the one payload into the other', () => {
  const json = fc.jsonValue({ maxDepth: 4 });
  fc.assert(
    fc.property(json, json, (before, after) => {
      expect(asJson(patched(before, diffOf(before, after)))).toBe(asJson(after));
    }),
    { numRuns: 500 },
  );
});

it.each([
  ['nothing', { a: 1 }, { a: 1 }, []],
  ['a member that changed', { a: { b: 1 } }, { a: { b: 2 } }, [{ op: 'replace', path: '/a/b', value: 2 }]],
  ['a member that came', {}, { 'a/b~c': 1 }, [{ op: 'add', path: '/a~1b~0c', value: 1 }]],
  ['a member that went', { a: 1 }, {}, [{ op: 'remove', path: '/a' }]],
  [
    'items that went',
    { a: [1, 2, 3] },
    { a: [1] },
    [
      { op: 'remove', path: '/a/2' },
      { op: 'remove', path: '/a/1' },
    ],
  ],
  [
    'a list that became an object',
    { a: [1] },
    { a: { 0: 1 } },
    [{ op: 'replace', path: '/a', value: { 0: 1 } }],
  ],
])('is told of %s', (_what, before, after, operations) => {
  expect(diffOf(before, after)).toEqual(operations);
});

it('is one replacement where there would be too many steps, however long the lists', () => {
  const before = Array.from({ length: 100_000 }, (_, index) => `before ${index}`);
  const after = before.map((_, index) => `after ${index}`);
  expect(diffOf({ before }, { before: after })).toEqual([
    { op: 'replace', path: '', value: { before: after } },
  ]);
  const last = [...before.slice(0, -1), 'other'];
  expect(diffOf(before, last)).toEqual([{ op: 'replace', path: '/99999', value: 'other' }]);
});
