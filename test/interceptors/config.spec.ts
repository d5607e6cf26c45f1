import type { ChainEntry } from '../../lib/interceptors/chain/entry.js';
import { unknownNames, withOverrides } from '../../lib/interceptors/overrides.js';

const entry = (host: string, name = 'check'): ChainEntry => ({
  host,
  descriptor: { name, type: 'validation', hooks: [{ events: ['tools/call'], phase: 'request' }] },
  invoke: () => true,
});
const LOCAL = entry('local');
const FAR = entry('far');
const OTHER = entry('other');

describe('the configuration of interceptors', () => {
  it.each<[string, ChainEntry[], Record<string, object>, (object | undefined)[]]>([
    ['by name, of all that have it', [FAR, OTHER], { check: { a: 1 } }, [{ a: 1 }, { a: 1 }]],
    [
      'by name, of the local one alone where there is one',
      [LOCAL, FAR],
      { check: { a: 1 } },
      [{ a: 1 }, undefined],
    ],
    ['by host and name', [LOCAL, FAR], { 'far/check': { b: 2 } }, [undefined, { b: 2 }]],
    [
      'by both, of which the more exact one wins',
      [LOCAL, FAR, OTHER],
      { check: { a: 1 }, 'far/check': { b: 2 }, 'local/check': { c: 3 } },
      [{ c: 3 }, { b: 2 }, undefined],
    ],
  ])('is found %s', (_, entries, config, found) => {
    const configured = withOverrides(entries, { overrides: [], config: [config] as never });
    expect(configured.map(({ overrides }) => overrides?.config)).toEqual(found);
    expect(unknownNames(entries, { overrides: [], config: [config] as never })).toEqual([]);
  });

  it('is not for an interceptor whose name is another one with its host', () => {
    const policy = {
      overrides: [{ 'far/check': { failOpen: true, config: { key: 1 } } }],
      config: [{ 'far/check': { key: 2 } }],
    };
    const [far, evil] = withOverrides([FAR, entry('other', 'far/check')], policy);
    expect(far.overrides).toEqual({ failOpen: true, config: { key: 2 } });
    expect(evil.overrides).toBeUndefined();
  });

  it('tells names that nobody has', () => {
    const policy = { overrides: [{ nope: {} }], config: [{ 'far/nope': {}, check: {} }] };
    expect(unknownNames([FAR], policy)).toEqual(['nope', 'far/nope']);
  });
});
