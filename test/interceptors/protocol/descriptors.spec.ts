import { readDescriptor } from '../../../lib/interceptors/protocol/read-descriptor.js';
import {
  MalformedResultError,
  readMutation,
  readSink,
  readValidation,
} from '../../../lib/interceptors/protocol/read-result.js';

const json = (text: string): unknown => JSON.parse(text);
const ON_CALL = { events: ['tools/call'], phase: 'request' };
const AS_READ = { name: 'a', type: 'validation', hooks: [ON_CALL] };
const descriptor = (fields: object = {}) => ({ ...AS_READ, ...fields });

const REQUEST = (...events: string[]) => ({ events, phase: 'request' });
const RESPONSE = (...events: string[]) => ({ events, phase: 'response' });

/** [what, as it came, what is read of it besides the name, the type and the hook on tools/call] */
const READ: [string, object, object][] = [
  ['nothing but what is required', {}, {}],
  ['everything that is optional', optional({}), optional({})],
  ['defaults spelled out', { mode: 'active', failOpen: false, priorityHint: 0 }, {}],
  ['the mode enforce', { mode: 'enforce' }, {}],
  ['the mode audit', { mode: 'audit' }, { mode: 'audit' }],
  ['the empty mode of the Go SDK', { mode: '' }, {}],
  ['the nulls of the C# SDK', { mode: null, version: null, priorityHint: null, compat: null }, {}],
  ['the type sink', { type: 'sink' }, { type: 'sink' }],
  ['the type observability', { type: 'observability' }, { type: 'sink' }],
  ['a field of a later draft', { later: true, _meta: {} }, {}],

  ['one hook', { hooks: undefined, hook: ON_CALL }, {}],
  ['one hook in both phases', { hooks: null, hook: both('tools/call') }, { hooks: inBoth('tools/call') }],
  ['hooks in both phases', { hooks: [both('a/b')] }, { hooks: inBoth('a/b') }],
  ['hooks that are one object', { hooks: ON_CALL }, {}],
  ['a list under "hook"', { hooks: undefined, hook: [ON_CALL] }, {}],
  ['both spellings, of which the newer counts', { hook: both('*') }, {}],
  [
    'the request phase last',
    { hooks: [RESPONSE('a'), REQUEST('b')] },
    { hooks: [REQUEST('b'), RESPONSE('a')] },
  ],
  ['*/request', { hooks: [REQUEST('*/request')] }, { hooks: [REQUEST('*')] }],
  ['*/response', { hooks: [RESPONSE('*/response')] }, { hooks: [RESPONSE('*')] }],
  ['both in both phases', { hooks: [both('*/request', '*/response')] }, { hooks: inBoth('*') }],
  ['*/request in both phases', { hooks: [both('*/request')] }, { hooks: [REQUEST('*')] }],
  ['*/request in the other phase', { hooks: [RESPONSE('*/request', 'a/b')] }, { hooks: [RESPONSE('a/b')] }],
  ['* in two spellings', { hooks: [REQUEST('*', '*/request')] }, { hooks: [REQUEST('*')] }],
  [
    'an old descriptor whole',
    { hooks: undefined, hook: both('*/request', 'a/b'), mode: 'enforce', type: 'observability' },
    { hooks: [REQUEST('*', 'a/b'), RESPONSE('a/b')], type: 'sink' },
  ],

  [
    'an event that nobody knows',
    { hooks: [REQUEST('x/y', 'tools/*')] },
    { hooks: [REQUEST('x/y', 'tools/*')] },
  ],
  ['an event that is none', { hooks: [{ ...ON_CALL, events: [1, '', null, {}, 'tools/call'] }] }, {}],
  ['a hook with an unknown phase', { hooks: [ON_CALL, { events: ['a/b'], phase: 'later' }] }, {}],
  ['a hook without a phase', { hooks: [{ events: ['a/b'] }, ON_CALL] }, {}],
  ['a hook that is none', { hooks: [null, 1, 'tools/call', [ON_CALL], ON_CALL] }, {}],

  ['the least priority', { priorityHint: -(2 ** 31) }, { priorityHint: -(2 ** 31) }],
  ['the greatest priority', { priorityHint: 2 ** 31 - 1 }, { priorityHint: 2 ** 31 - 1 }],
  ['too great a priority', { priorityHint: 2 ** 31 }, {}],
  ['too small a priority', { priorityHint: -(2 ** 31) - 1 }, {}],
  ['a fraction', { priorityHint: 0.5 }, {}],
  ['a priority in words', { priorityHint: '1' }, {}],
  [
    'priorities by phase',
    { priorityHint: { request: -1, response: 2 } },
    { priorityHint: { request: -1, response: 2 } },
  ],
  ['a priority for one phase', { priorityHint: { response: 2 } }, { priorityHint: { response: 2 } }],
  [
    'one priority of two that is none',
    { priorityHint: { request: 2 ** 31, response: 2 } },
    { priorityHint: { response: 2 } },
  ],
  ['priorities by phase that are the default', { priorityHint: { request: 0, response: 0 } }, {}],

  ['a failOpen that is no boolean', { failOpen: 'true' }, {}],
  ['a version and a description that are none', { version: 1, description: {} }, {}],
  ['a configSchema that is a list', { configSchema: [{}] }, {}],
  ['a configSchema that is a word', { configSchema: 'object' }, {}],
  ['a configSchema that is true', { configSchema: true }, {}],
  ['a compat without a minimum', { compat: { maxProtocol: '2026-07-28' } }, {}],
  ['a compat with a number', { compat: { minProtocol: 2025 } }, {}],
  [
    'a compat whose maximum is null',
    { compat: { minProtocol: 'a', maxProtocol: null } },
    { compat: { minProtocol: 'a' } },
  ],
];

function optional(rest: object): object {
  return {
    version: '1.0.0',
    description: 'd',
    mode: 'audit',
    failOpen: true,
    priorityHint: 7,
    compat: { minProtocol: '2025-06-18', maxProtocol: '2026-07-28' },
    configSchema: { type: 'object' },
    ...rest,
  };
}
function both(...events: string[]): object {
  return { events, phase: 'both' };
}
function inBoth(...events: string[]): object[] {
  return [REQUEST(...events), RESPONSE(...events)];
}

it.each(READ)('a descriptor with %s', (_what, fields, read) => {
  expect(readDescriptor(json(JSON.stringify(descriptor(fields))))).toStrictEqual({
    ok: true,
    descriptor: { ...AS_READ, ...read },
  });
});

/** Nested deeper than a recursive function can follow. */
const deep = (depth = 200_000) => json('['.repeat(depth) + ']'.repeat(depth));

/** [what, as it came, why it cannot be used] */
const REFUSED: [string, unknown, string][] = [
  ['nothing', undefined, 'it is not an object'],
  ['null', null, 'it is not an object'],
  ['a word', 'a', 'it is not an object'],
  ['a list', [descriptor()], 'it is not an object'],
  ['no name', descriptor({ name: undefined }), 'it has no name'],
  ['an empty name', descriptor({ name: '' }), 'it has no name'],
  ['a name that is a number', descriptor({ name: 1 }), 'it has no name'],
  ['a name in its __proto__', json('{"__proto__":{"name":"a","type":"sink"}}'), 'it has no name'],
  ['no type', descriptor({ type: undefined }), 'its type is not a string'],
  ['an unknown type', descriptor({ type: 'gate' }), 'its type "gate" is unknown'],
  ['a type that every object has', descriptor({ type: 'constructor' }), 'its type "constructor" is unknown'],
  ['the type __proto__', descriptor({ type: '__proto__' }), 'its type "__proto__" is unknown'],
  ['a type of great depth', descriptor({ type: deep() }), 'its type is not a string'],
  ['an unknown mode', descriptor({ mode: 'off' }), 'its mode "off" is unknown'],
  ['the mode toString', descriptor({ mode: 'toString' }), 'its mode "toString" is unknown'],
  ['a mode of great depth', descriptor({ mode: deep() }), 'its mode is not a string'],
  ['no hooks', descriptor({ hooks: undefined }), 'it does not hook an event'],
  ['an empty list of hooks', descriptor({ hooks: [] }), 'it does not hook an event'],
  ['hooks of great depth', descriptor({ hooks: deep() }), 'it does not hook an event'],
  ['a hook without events', descriptor({ hooks: [{ phase: 'both' }] }), 'it does not hook an event'],
  [
    'events that are a word',
    descriptor({ hooks: [{ ...ON_CALL, events: 'a/b' }] }),
    'it does not hook an event',
  ],
  [
    'nothing but unknown phases',
    descriptor({ hooks: [{ events: ['*'], phase: 'later' }] }),
    'it does not hook an event',
  ],
  [
    'only */response for requests',
    descriptor({ hooks: [REQUEST('*/response')] }),
    'it does not hook an event',
  ],
];

it.each(REFUSED)('a descriptor with, or that is, %s is not fatal', (_what, value, reason) => {
  expect(readDescriptor(value)).toEqual({ ok: false, reason });
});

it('a reason for the log does not grow with what it complains of', () => {
  const huge = 'x'.repeat(1_000_000);
  for (const field of ['type', 'mode']) {
    const read = readDescriptor(descriptor({ [field]: huge }));
    expect(read).toEqual({
      ok: false,
      reason: expect.stringMatching(/^its \w+ "x{1,100}" is unknown$/) as string,
    });
  }
});

it('hooks and events may be more than a call can have arguments', () => {
  const events = Array.from({ length: 150_000 }, (_, index) => `a/${index}`);
  const hooks = events.map(event => RESPONSE(event));
  const read = readDescriptor(descriptor({ hooks: [REQUEST('b'), { events, phase: 'request' }, ...hooks] }));
  expect(read.ok && read.descriptor.hooks).toHaveLength(150_002);
  expect(read.ok && read.descriptor.hooks[1].events).toHaveLength(150_000);
});

it('a schema keeps a member called __proto__, and nothing is polluted', () => {
  const configSchema = json(
    '{"type":"object","properties":{"__proto__":{"type":"string"}},"__proto__":{"evil":1}}',
  );
  const text = JSON.stringify({ ...descriptor(), configSchema });
  const read = readDescriptor(json(text.replace('{', '{"__proto__":{"failOpen":true},')));
  expect(read).toEqual({ ok: true, descriptor: { ...AS_READ, configSchema } });
  expect('evil' in {}).toBe(false);
});

describe('results', () => {
  const received = { text: 'as it came' };
  const info = { spent: 1 };
  const note = (severity?: unknown, message: unknown = 'm') => ({ message, severity });
  const said = (severity: string) => ({ message: 'm', severity });

  it.each<[string, unknown, object]>([
    ['flat, passing', { valid: true }, { valid: true }],
    [
      'under another name',
      { interceptor: 'other', type: 'sink', phase: 'response', valid: true },
      { valid: true },
    ],
    ['passing, with a severity', { valid: true, severity: 'error' }, { valid: true }],
    ['nested, passing', { validation: { valid: true } }, { valid: true }],
    ['nested, denying', { validation: { valid: false } }, { valid: false, severity: 'error' }],
    [
      'nested, with everything',
      {
        validation: {
          valid: false,
          severity: 'warn',
          messages: [said('warn')],
          suggestions: [{ path: 'a', value: 1 }],
        },
      },
      { valid: false, severity: 'warn', messages: [said('warn')], suggestions: [{ path: 'a', value: 1 }] },
    ],
    ['nested, with the info beside it', { info, validation: { valid: true } }, { valid: true, info }],
    [
      'flat and nested: the newer counts',
      { valid: false, validation: { valid: true } },
      { valid: false, severity: 'error' },
    ],
    ['with a "validation" of its own', { valid: true, validation: { rules: 3 } }, { valid: true }],

    ['denying without a severity', { valid: false }, { valid: false, severity: 'error' }],
    ['with no severity but null', { valid: false, severity: null }, { valid: false, severity: 'error' }],
    [
      'taken by its gravest message',
      { valid: false, messages: [note('info'), note('warn'), note('info')] },
      { valid: false, severity: 'warn', messages: [said('info'), said('warn'), said('info')] },
    ],
    [
      'with its own severity before its messages',
      { valid: false, severity: 'info', messages: [note('error')] },
      { valid: false, severity: 'info', messages: [said('error')] },
    ],
    [
      'with a severity that is unknown, over milder messages',
      { valid: false, severity: 'fatal', messages: [note('info')] },
      { valid: false, severity: 'error', messages: [said('info')] },
    ],
    [
      'with a message whose severity is unknown',
      { valid: false, messages: [note('info'), note('fatal')] },
      { valid: false, severity: 'error', messages: [said('info'), said('error')] },
    ],
    [
      'with a grave message that says nothing',
      { valid: false, messages: [note('info'), note('error', 1)] },
      { valid: false, severity: 'error', messages: [said('info')] },
    ],
    [
      'with messages that are none',
      { valid: false, messages: [note('info'), 'no', null] },
      { valid: false, severity: 'error', messages: [said('info')] },
    ],
    ['with messages that are a word', { valid: false, messages: 'no' }, { valid: false, severity: 'error' }],
    [
      'with a path that is none',
      {
        valid: false,
        messages: [
          { path: null, ...note('info') },
          { path: 'a.b', ...note('info') },
        ],
      },
      { valid: false, severity: 'info', messages: [said('info'), { path: 'a.b', ...said('info') }] },
    ],
    [
      'with suggestions that are none',
      { valid: true, suggestions: [null, 'a', { value: 1 }, { path: 'a', value: null, why: 1 }] },
      { valid: true, suggestions: [{ path: 'a', value: null }] },
    ],
    ['with nothing but suggestions that are none', { valid: true, suggestions: [1] }, { valid: true }],
    ['with an info that is none', { valid: true, info: [1] }, { valid: true }],
  ])('of a validator: %s', (_what, value, read) => {
    expect(readValidation(value)).toStrictEqual(read);
  });

  it.each<[string, unknown, object]>([
    ['flat, unmodified', { modified: false }, { modified: false, payload: received }],
    [
      'flat, unmodified, with another payload',
      { modified: false, payload: 1 },
      { modified: false, payload: received },
    ],
    ['flat, modified', { modified: true, payload: { a: 1 } }, { modified: true, payload: { a: 1 } }],
    ['modified to null', { modified: true, payload: null }, { modified: true, payload: null }],
    [
      'nested',
      { mutation: { modified: true, payload: { a: 1 }, info } },
      { modified: true, payload: { a: 1 }, info },
    ],
    ['nested, unmodified', { mutation: { modified: false } }, { modified: false, payload: received }],
    [
      'nested, with the payload beside it',
      { payload: { a: 1 }, mutation: { modified: true } },
      { modified: true, payload: { a: 1 } },
    ],
    [
      'flat and nested: the newer counts',
      { modified: false, mutation: { modified: true, payload: { a: 1 } } },
      { modified: false, payload: received },
    ],
  ])('of a mutator: %s', (_what, value, read) => {
    expect(readMutation(value, received)).toStrictEqual(read);
  });

  it.each<[string, unknown, object]>([
    ['nothing', undefined, { recorded: true }],
    ['something that is none', 'ok', { recorded: true }],
    ['flat', { recorded: false, info }, { recorded: false, info }],
    ['nested', { sink: { recorded: false } }, { recorded: false }],
    ['with metrics', { metrics: { a: 1 } }, { recorded: true, metrics: { a: 1 } }],
    [
      'with metrics that are no numbers',
      { metrics: { a: 1, b: '2', c: null } },
      { recorded: true, metrics: { a: 1 } },
    ],
    ['with metrics that are none', { metrics: [1] }, { recorded: true }],
  ])('of a sink: %s', (_what, value, read) => {
    expect(readSink(value)).toStrictEqual(read);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a word', 'valid'],
    ['a list', [{ valid: true, modified: true, payload: {} }]],
    ['no word of what it is', {}],
    ['a number for a boolean', { valid: 1, modified: 1, payload: {} }],
    ['a word for a boolean', { valid: 'true', modified: 'true', payload: {} }],
    ['the other one’s nested result', { validation: { modified: false }, mutation: { valid: true } }],
    ['a nested list', { validation: [{ valid: true }], mutation: [{ modified: false }] }],
    ['a result in its __proto__', json('{"__proto__":{"valid":true,"modified":false}}')],
    ['great depth', deep()],
  ])('that are %s are failures, of a validator and of a mutator', (_what, value) => {
    expect(() => readValidation(value)).toThrow(MalformedResultError);
    expect(() => readMutation(value, received)).toThrow(MalformedResultError);
  });

  it('that say they modified, and not to what, are failures', () => {
    expect(() => readMutation({ modified: true }, received)).toThrow(MalformedResultError);
    expect(() => readMutation({ mutation: { modified: true } }, received)).toThrow(MalformedResultError);
  });

  it('may hold very many messages', () => {
    const messages = Array.from({ length: 150_000 }, () => note('info'));
    const read = readValidation({ valid: false, messages: [...messages, note('error')] });
    expect(read.severity).toBe('error');
    expect(read.messages).toHaveLength(150_001);
  });
});
