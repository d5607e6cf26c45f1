import { PolicyError, type PolicyFormat, readPolicy } from '../../../lib/interceptors/policy/policy.js';

const EMPTY = { overrides: {}, config: {} };

const refusal = (text: string, format: PolicyFormat, file?: string): unknown => {
  try {
    return readPolicy(text, format, file);
  } catch (error) {
    return error;
  }
};

describe('a policy is read', () => {
  it.each([
    ['an empty object', 'json', '{}', EMPTY],
    ['an empty object', 'yaml', '{} # nothing yet', EMPTY],
    ['sections whose entries are commented out', 'yaml', 'overrides:\n  # a: {}\nconfig:\n', EMPTY],
    [
      'everything there is, in YAML',
      'yaml',
      `
overrides:
  redact:
    failOpen: true
    priority: -2147483648
    mode: enforce
    timeoutMs: 250
    hooks:
      - events: [tools/call, "llm/*", "*"]
        phase: both
    config: { words: [a, 1, null, 0.5] }
  gateway/redact: { priority: { request: 1, response: 2147483647 }, mode: audit }
config:
  redact:
    deep: { er: ~ }
`,
      {
        overrides: {
          redact: {
            failOpen: true,
            priority: -2147483648,
            mode: 'enforce',
            timeoutMs: 250,
            hooks: [{ events: ['tools/call', 'llm/*', '*'], phase: 'both' }],
            config: { words: ['a', 1, null, 0.5] },
          },
          'gateway/redact': { priority: { request: 1, response: 2147483647 }, mode: 'audit' },
        },
        config: { redact: { deep: { er: null } } },
      },
    ],
    [
      'JSON, with tabs and escapes',
      'json',
      '{\n\t"config": {\n\t\t"a\\u002fb": {"é": "\\ud83d\\ude00", "n": [1e2, -0.5]}\n\t}\n}',
      { overrides: {}, config: { 'a/b': { é: '😀', n: [100, -0.5] } } },
    ],
    [
      'aliases',
      'yaml',
      'overrides:\n  a: &audit { mode: audit }\n  b: *audit',
      { overrides: { a: { mode: 'audit' }, b: { mode: 'audit' } }, config: {} },
    ],
    [
      'words that only YAML 1.1 takes for something else',
      'yaml',
      'config: { a: { answer: yes, on: 2001-01-01, <<: { x: 1 } } }',
      { overrides: {}, config: { a: { answer: 'yes', on: '2001-01-01', '<<': { x: 1 } } } },
    ],
    [
      'names of what every object has',
      'yaml',
      'overrides: { constructor: { mode: audit } }\nconfig: { toString: { hasOwnProperty: 1 } }',
      {
        overrides: { constructor: { mode: 'audit' } },
        config: { toString: { hasOwnProperty: 1 } },
      },
    ],
  ] as [string, PolicyFormat, string, object][])('%s (%s)', (_what, format, text, expected) => {
    expect(readPolicy(text, format)).toEqual(expected);
  });

  it('finds nothing by a name that nobody wrote', () => {
    const { overrides, config } = readPolicy('{}', 'yaml');
    expect(overrides['constructor']).toBeUndefined();
    expect(config['toString']).toBeUndefined();
  });
});

it.each([
  ['nothing', ''],
  ['white space', ' \n'],
  ['nothing but comments', '# nothing yet\n'],
  ['an empty document', '---\n...\n'],
])('%s is no policy: it may be half of one that is being written', (_what, text) => {
  expect(refusal(text, 'yaml')).toEqual(
    new PolicyError('policy.yaml: is empty; write {} for a policy without entries'),
  );
});

it.each(['', 'null'])('%j is no policy in JSON, either', text => {
  expect(refusal(text, 'json')).toBeInstanceOf(PolicyError);
});

describe('a shape is refused, with its place', () => {
  const hook = (value: string) => `overrides: { a: { hooks: [${value}] } }`;

  it.each([
    ['a list', '- a', '1:1: must be an object with overrides and config'],
    ['a word', 'a', '1:1: must be an object with overrides and config'],
    [
      'an unknown section',
      'config: {}\noverides: {}',
      '2:1: overides: is unknown; allowed are overrides, config',
    ],
    [
      'overrides in a list',
      'overrides: [a]',
      '1:1: overrides: must be an object by name of interceptor, or by host/name',
    ],
    ['no override', 'overrides:\n  a:\n', '2:3: overrides.a: must be an object with what is overridden'],
    [
      'an unknown field',
      'overrides:\n  host/a:\n    mode: audit\n    where: never',
      '4:5: overrides.host/a.where: is unknown; allowed are failOpen, priority, mode, timeoutMs, hooks, when, config',
    ],
    [
      'an unknown mode',
      'overrides:\n  a.b:\n    mode: off',
      '3:5: overrides["a.b"].mode: must be "active", "enforce" or "audit", not "off"',
    ],
    [
      'a failOpen that is a string',
      'overrides: { a: { failOpen: "false" } }',
      '1:19: overrides.a.failOpen: must be true or false',
    ],
    ...['1.5', '2147483648', '-2147483649', 'high', 'null', '[1]'].map(value => [
      `the priority ${value}`,
      `overrides: { a: { priority: ${value} } }`,
      '1:19: overrides.a.priority: must be a 32-bit integer, or an object with one for request and for response',
    ]),
    [
      'the priority of a side',
      'overrides: { a: { priority: { response: 1.5 } } }',
      '1:31: overrides.a.priority.response: must be a 32-bit integer',
    ],
    [
      'the priority of a side that there is not',
      'overrides: { a: { priority: { both: 1 } } }',
      '1:31: overrides.a.priority.both: is unknown; allowed are request, response',
    ],
    ...['0', '-1', '0.5', '2147483648', '1s'].map(value => [
      `the time ${value}`,
      `overrides: { a: { timeoutMs: ${value} } }`,
      '1:19: overrides.a.timeoutMs: must be a whole number of milliseconds from 1 to 2147483647',
    ]),
    ['no hook', hook(''), '1:19: overrides.a.hooks: must be a list of hooks, with at least one'],
    [
      'a hook that is none',
      hook('tools/call'),
      '1:27: overrides.a.hooks[0]: must be an object with events and a phase',
    ],
    [
      'a hook without phase',
      hook('{ events: [a] }'),
      '1:27: overrides.a.hooks[0].phase: must be "request", "response" or "both"',
    ],
    [
      'a hook with an unknown phase',
      hook('{ events: [a], phase: request }, { events: [a], phase: never }'),
      '1:75: overrides.a.hooks[1].phase: must be "request", "response" or "both", not "never"',
    ],
    [
      'a hook without event',
      hook('{ events: [], phase: both }'),
      '1:29: overrides.a.hooks[0].events: must be a list of events, with at least one',
    ],
    [
      'an event that is no name',
      hook('{ events: [a, "a b"], phase: both }'),
      '1:41: overrides.a.hooks[0].events[1]: must be an event: "tools/call", "tools/*", "*" or "namespace/operation", not "a b"',
    ],
    [
      'an unknown field of a hook',
      hook('{ events: [a], phase: both, when: 1 }'),
      '1:55: overrides.a.hooks[0].when: is unknown; allowed are events, phase',
    ],
    [
      'a configuration in an override that is no object',
      'overrides: { a: { config: [1] } }',
      "1:19: overrides.a.config: must be an object: the interceptor's configuration",
    ],
    [
      'a configuration that is no object',
      'config:\r\n  a: 1',
      "2:3: config.a: must be an object: the interceptor's configuration",
    ],
    [
      'what an alias brings along, at the alias',
      'config: { a: &x { mode: off } }\noverrides:\n  a: *x',
      '3:3: overrides.a.mode: must be "active", "enforce" or "audit", not "off"',
    ],
  ])('%s', (_what, text, message) => {
    expect(refusal(text, 'yaml')).toMatchObject({ name: 'PolicyError', message: `policy.yaml:${message}` });
  });

  it.each([
    ['never', 'when: must be an object with name, principal and protocol'],
    ['{ tool: a }', 'when.tool: is unknown; allowed are name, principal, protocol'],
    ['{ name: [] }', 'when.name: must be a text that is not empty, or a list of some'],
    ["{ name: '' }", 'when.name: must be a text that is not empty, or a list of some'],
    ['{ name: [1] }', 'when.name[0]: must be a non-empty string'],
    ['{ principal: ada }', 'when.principal: must be an object with type and id'],
    [
      '{ principal: { type: admin } }',
      'when.principal.type: must be "user", "service" or "anonymous", not "admin"',
    ],
    [
      '{ protocol: { min: latest } }',
      'when.protocol.min: must be a revision such as "2026-07-28", not "latest"',
    ],
  ])('a condition that is none: %s', (when, problem) => {
    const { message } = refusal(`overrides: { a: { when: ${when} } }`, 'yaml') as Error;
    expect(message).toMatch(/^policy\.yaml:1:\d+: /);
    expect(message.endsWith(`: overrides.a.${problem}`)).toBe(true);
  });

  it('in JSON, too', () => {
    expect(refusal('{\n  "config": {},\n  "overrides": {"a": {"mode": "off"}}\n}', 'json')).toMatchObject({
      message: 'policy.json:3:23: overrides.a.mode: must be "active", "enforce" or "audit", not "off"',
    });
  });
});

describe('a text that its parser refuses', () => {
  const nineOf = (alias: string) => `[${`*${alias}, `.repeat(9)}]`;
  const bomb = `a: &a [1]\nb: &b ${nineOf('a')}\nc: &c ${nineOf('b')}\nd: ${nineOf('c')}`;

  it.each([
    ['bad syntax', 'yaml', 'config:\n\ta: 1', 'Tabs are not allowed as indentation at line 2, column 1'],
    ['a duplicate key', 'yaml', 'config:\n  a: {}\n  "a": {}', 'Map keys must be unique at line 3, column 3'],
    ['a key that is a list', 'yaml', '? [a]\n: 1', 'With stringKeys, all keys must be strings at line 1'],
    ['a custom tag', 'yaml', 'config: !!js/function "x"', 'Unresolved tag'],
    ['a second document', 'yaml', 'config: {}\n---\noverrides: {}', 'multiple documents'],
    ['an alias without an anchor', 'yaml', 'config: *x', 'Unresolved alias'],
    ['aliases that multiply', 'yaml', bomb, 'Excessive alias count'],
    ['YAML in a JSON file', 'json', 'config: {}', 'Unexpected token'],
    ['a comma before }', 'json', '{"config": {},}', ''],
    [
      'a duplicate key in JSON',
      'json',
      '{\n"config": {},\n"config": {}}',
      'Map keys must be unique at line 3',
    ],
    ['a text without an end', 'json', '{"config": {\n', ''],
  ] as [string, PolicyFormat, string, string][])('%s (%s)', (_what, format, text, message) => {
    const error = refusal(text, format) as PolicyError;
    expect(error).toBeInstanceOf(PolicyError);
    expect(error.message).toContain(`policy.${format}: is not valid ${format.toUpperCase()}: `);
    expect(error.message).toContain(message);
  });
});
