import { normalise } from './local-interceptors.js';

const received = { a: 1 };

it.each([
  ['a result without a payload', { modified: true }, { modified: true }],
  ['a result', { modified: true, payload: 1 }, { modified: true, payload: 1 }],
  ['a result of no change', { modified: false, info: {} }, { modified: false, info: {} }],
  ['a payload', { a: 2 }, { modified: true, payload: { a: 2 } }],
  [
    'a payload that has such a member among others',
    { modified: true, at: 1 },
    { modified: true, payload: { modified: true, at: 1 } },
  ],
  ['nothing', undefined, { modified: false, payload: received }],
])('a mutator may return %s', (_what, value, expected) => {
  expect(normalise('mutation', value, 'm', received)).toEqual(expected);
});
