import { Injectable, Scope } from '@nestjs/common';
import { Mutator, Sink, Validator, type McpInterceptorOptions } from 'nestjs-mcp';
import type { MutatorOptions, ValidatorOptions } from 'nestjs-mcp/interceptors';
import { startApp } from '../fixtures/matrix.js';

const validatorWith = (options: ValidatorOptions) => {
  class Rules {
    @Validator(options)
    check() {
      return true;
    }
  }
  return Rules;
};

const start = (handlers: (new () => object)[], interceptors: McpInterceptorOptions = {}) =>
  startApp(handlers, { mcp: { interceptors, capabilities: { tools: true } } });

it.each([
  ['no options', undefined, /does not hook an event/],
  ['options that are no object', 'tools/call', /options must be an object, with "events"/],
  ['no event', {}, /does not hook an event/],
  ['an empty list of events', { events: [] }, /"events" must be a list of events, with at least one/],
  ['no hook', { hooks: [] }, /"hooks" must be a list of hooks, with at least one/],
  [
    'a hook without events',
    { hooks: [{ events: [], phase: 'both' }] },
    /"hooks\[0\]\.events" must be a list of events, with/,
  ],
  ['events that are no list', { events: 'tools/call' }, /"events" must be a list/],
  [
    'an event that is no string',
    { events: [1] },
    /"events\[0\]" must be an event: "tools\/call", .*, not 1$/,
  ],
  ['an event that is no name', { events: ['a b'] }, /"events\[0\]" must be an event: .*, not "a b"$/],
  ['hooks that are no list', { hooks: { events: ['*'], phase: 'both' } }, /"hooks" must be a list/],
  ['a misspelt hook', { hooks: [{ event: ['*'], phase: 'both' }] }, /unknown option "hooks\[0\]\.event"/],
  [
    'a hook with more',
    { hooks: [{ events: ['*'], phase: 'both', mode: 'audit' }] },
    /unknown option "hooks\[0\]\.mode"; known are events, phase/,
  ],
  [
    'a hook of an unknown phase',
    { hooks: [{ events: ['*'], phase: 'requets' }] },
    /"hooks\[0\]\.phase" must be "request", "response" or "both", not "requets"/,
  ],
  [
    'hooks beside events',
    { events: ['*'], hooks: [{ events: ['*'], phase: 'both' }] },
    /"hooks" beside "events"/,
  ],
  ['hooks beside a phase', { phase: 'both', hooks: [{ events: ['*'], phase: 'both' }] }, /"hooks" beside/],
  ['an unknown phase', { events: ['*'], phase: 'always' }, /"phase" must be "request", "response" or "both"/],
  ['an unknown mode', { events: ['*'], mode: 'off' }, /"mode" must be "active", "enforce" or "audit"/],
  ['an empty name', { events: ['*'], name: '' }, /"name" must be a non-empty string/],
  ['a name that is none', { events: ['*'], name: 5 }, /"name" must be a non-empty string/],
  ['a failOpen that is none', { events: ['*'], failOpen: 'no' }, /"failOpen" must be true or false/],
  ['a timeout that is none', { events: ['*'], timeoutMs: 0 }, /"timeoutMs" must be a whole number/],
  ['a compat that is a number', { events: ['*'], compat: 5 }, /"compat" must be { minProtocol/],
  ['a compat that is a word', { events: ['*'], compat: '2026-07-28' }, /"compat" must be/],
  ['an empty compat', { events: ['*'], compat: {} }, /"compat\.minProtocol" must be a revision/],
  [
    'a compat that is no date',
    { events: ['*'], compat: { minProtocol: 'now' } },
    /"compat\.minProtocol" must be a revision/,
  ],
  [
    'a compat that ends before it starts',
    { events: ['*'], compat: { minProtocol: '2026-07-28', maxProtocol: '2025-06-18' } },
    /"compat" must be/,
  ],
  ['a condition that is none', { events: ['*'], when: 'x' }, /"when" must be a function/],
  ['a final that is none', { events: ['*'], final: 'onyl' }, /"final" must be true, false or "only"/],
  ['side effects that are none', { events: ['*'], sideEffects: 'few' }, /"sideEffects" must be/],
  ['a misspelt option', { events: ['*'], failopen: true }, /unknown option "failopen"; known are name, /],
  ['an option of mutators', { events: ['*'], priority: 1 }, /unknown option "priority"/],
  [
    'a configSchema of no object',
    { events: ['*'], configSchema: { type: 'string' } },
    /its "configSchema" cannot be used: .*must describe an object/,
  ],
  [
    'a configSchema that does not compile',
    { events: ['*'], configSchema: { type: 'object', properties: { a: { pattern: '[' } } } },
    /the JSON Schema does not compile: Invalid regular expression: \/\[\/u: Unterminated character class$/,
  ],
  ['an unknown server', { events: ['*'], server: 'nope' }, /the MCP server "nope" does not exist/],
  ['a server that is none', { events: ['*'], server: 5 }, /"server" must be the name of a server/],
] as [string, ValidatorOptions, RegExp][])(
  '%s stops the bootstrap, naming class and method',
  async (_what, options, message) => {
    const starting = start([validatorWith(options)]);
    await expect(starting).rejects.toThrow(/^Rules\.check: /);
    await expect(starting).rejects.toThrow(message);
  },
);

const mutatorWith = (options: MutatorOptions) => {
  class Rules {
    @Mutator(options)
    change() {
      return undefined;
    }
  }
  return Rules;
};

it.each([
  ['a scope that is none', { scope: 5 }, '"scope" must be { allow, deny, onBreach }'],
  ['a scope by name', { scope: { allow: ['name'] } }, '"scope.allow[0]" must be a JSON Pointer'],
  ['a scope that is no list', { scope: { deny: '/name' } }, '"scope.deny" must be a list'],
  ['an unknown breach', { scope: { onBreach: 'x' } }, '"scope.onBreach" must be "fail" or "drop"'],
  ['a misspelt scope', { scope: { allows: ['/name'] } }, 'unknown option "scope.allows"; known are allow,'],
])('%s stops the bootstrap', async (_what, options, problem) => {
  const rules = mutatorWith({ events: ['*'], ...options } as MutatorOptions);
  await expect(start([rules])).rejects.toThrow(`Rules.change: ${problem}`);
});

it.each([2 ** 31, -(2 ** 31) - 1, 0.5, NaN, '1', { request: 2 ** 31 }])(
  'the priority %j stops the bootstrap',
  async priority => {
    const rules = mutatorWith({ events: ['*'], priority: priority as number });
    await expect(start([rules])).rejects.toThrow(/Rules\.change: .*32-bit integer/);
  },
);

it.each([
  ['x', '"when" must be a function, or { name,'],
  [{ tool: 'x' }, 'unknown option "when.tool"; known are name, principal, protocol'],
  [{ name: '' }, '"when.name" must be a text that is not empty, or a list of some'],
  [{ name: [] }, '"when.name" must be a text that is not empty, or a list of some'],
  [{ name: ['a', 1] }, '"when.name[1]" must be a non-empty string'],
  [{ principal: 'ada' }, '"when.principal" must be an object with type and id'],
  [{ principal: { role: 'admin' } }, 'unknown option "when.principal.role"; known are type, id'],
  [{ principal: { type: 'admin' } }, '"when.principal.type" must be "user", "service" or "anonymous"'],
  [{ principal: { id: 1 } }, '"when.principal.id" must be a text that is not empty, or a list of some'],
  [{ protocol: '2026-07-28' }, '"when.protocol" must be an object with min and max'],
  [{ protocol: { min: 'latest' } }, '"when.protocol.min" must be a revision such as "2026-07-28"'],
])('the condition %j stops the bootstrap', async (when, problem) => {
  const rules = mutatorWith({ events: ['*'], when } as MutatorOptions);
  await expect(start([rules])).rejects.toThrow(`Rules.change: ${problem}`);
});

it('a priority of a phase that there is not stops the bootstrap', async () => {
  const rules = mutatorWith({ events: ['*'], priority: { requets: 1 } as object });
  await expect(start([rules])).rejects.toThrow(
    'Rules.change: unknown option "priority.requets"; known are request',
  );
});

it('two interceptors of one name stop the bootstrap, naming both', async () => {
  class Other {
    @Sink({ name: 'check', events: ['*'] })
    record() {
      return undefined;
    }
  }
  await expect(start([validatorWith({ events: ['*'] }), Other])).rejects.toThrow(
    /Other\.record: the interceptor "check" already exists in Rules\.check/,
  );
});

it('a transient provider stops the bootstrap', async () => {
  @Injectable({ scope: Scope.TRANSIENT })
  class Rules {
    @Validator({ events: ['*'] })
    check() {
      return true;
    }
  }
  await expect(start([Rules])).rejects.toThrow(/Rules\.check: .*transient/);
});

const overriding = (override: object) => ({ overrides: { check: override } });

it.each([
  ['an unknown interceptor', { overrides: { nope: {} } }, /names "nope"/],
  [
    'an unknown field',
    overriding({ where: 1 }),
    /unknown option "interceptors\.overrides\.check\.where"; known are failOpen/,
  ],
  [
    'a condition that is none',
    overriding({ when: 1 }),
    /overrides\.check\.when" must be an object with name/,
  ],
  ['an override that is none', { overrides: { check: 'audit' } }, /overrides\.check" must be an object/],
  ['hooks that widen', overriding({ hooks: [{ events: ['*'], phase: 'request' }] }), /can only narrow/],
  [
    'a misspelt phase',
    overriding({ hooks: [{ events: ['tools/call'], phase: 'requets' }] }),
    /overrides\.check\.hooks\[0\]\.phase" must be "request", "response" or "both"/,
  ],
  [
    'a misspelt hook',
    overriding({ hooks: [{ event: ['tools/call'] }] }),
    /unknown option .*hooks\[0\]\.event"; known are events, phase/,
  ],
  [
    'a hook without phase',
    overriding({ hooks: [{ events: ['tools/call'] }] }),
    /hooks\[0\]\.phase" must be "request", "response"/,
  ],
  ['no hook', overriding({ hooks: [] }), /check\.hooks" must be a list of hooks, with at least one/],
  ['hooks that are none', overriding({ hooks: 'tools/call' }), /check\.hooks" must be a list/],
  ['no event', overriding({ hooks: [{ events: [], phase: 'both' }] }), /events" must be a list of events/],
  ['an unknown mode', overriding({ mode: 'off' }), /mode" must be "active", "enforce" or "audit"/],
  ['a priority that is none', overriding({ priority: 1.5 }), /32-bit integer/],
  [
    'a misspelt side',
    overriding({ priority: { requets: 1 } }),
    /unknown option .*priority\.requets"; known are request/,
  ],
  ['a failOpen that is none', overriding({ failOpen: 'no' }), /failOpen" must be true or false/],
  ['an override’s time that is none', overriding({ timeoutMs: 0 }), /timeoutMs" must be a whole number/],
  ['a configuration that is none', overriding({ config: 5 }), /check\.config" must be an object/],
  ['a configuration by name that is none', { config: { check: 5 } }, /config\.check" must be an object/],
  ['a configuration for nobody', { config: { nope: {} } }, /names "nope"/],
  ['a time that is none', { timeoutMs: -1 }, /timeoutMs/],
  ['an unknown denial', { denial: 'silence' }, /denial/],
  ['an unknown option', { applied: true }, /unknown.*applied/],
  ['a policy file that is none', { policyFile: 5 }, /"interceptors\.policyFile" must be the path/],
  [
    'a policy file that does not exist',
    { policyFile: 'nope.yaml' },
    `nope.yaml: does not exist in the working folder ${process.cwd()}`,
  ],
  ['a discovery that is none', { discovery: 5 }, /"interceptors\.discovery" must be { ttlMs }/],
  ['an unknown part of it', { discovery: { ttl: 5 } }, /unknown option "interceptors\.discovery\.ttl"/],
  ['a time to live that is none', { discovery: { ttlMs: -1 } }, /discovery\.ttlMs" must be milliseconds/],
] as [string, McpInterceptorOptions, RegExp | string][])(
  'an option with %s stops the bootstrap',
  async (_what, interceptors, message) => {
    await expect(start([validatorWith({ events: ['tools/call'] })], interceptors)).rejects.toThrow(message);
  },
);

const url = 'http://127.0.0.1:1/mcp';

it.each([
  ['that is none', 'a', /servers\[0\]" must be an object with a "name"/],
  ['without a name', { url }, /servers\[0\]\.name" must be a non-empty string/],
  ['with a slash in its name', { name: 'a/b', url }, /without a "\/"/],
  [
    'with a misspelt option',
    { name: 'a', url, sends: {} },
    /unknown option "interceptors\.servers\[0\]\.sends"/,
  ],
  ['without a way to it', { name: 'a' }, /"a"\) needs one of "url", "command" and "transport", or/],
  ['with two ways to it', { name: 'a', url, command: 'x' }, /needs one of/],
  ['with a client and a url', { name: 'a', url, client: { request: () => 1 } }, /needs one of/],
  ['with a client that is none', { name: 'a', client: {} }, /client" must be a connected client/],
  ['with an invoker that is none', { name: 'a', invoker: { list: () => 1 } }, /"list" and "invoke"/],
  ['with a relative URL', { name: 'a', url: '/mcp' }, /url" must be an absolute URL/],
  ['with an unknown era', { name: 'a', url, era: 'old' }, /era" must be/],
  ['that may do nothing', { name: 'a', url, maxConcurrent: 0 }, /maxConcurrent" must be a whole number/],
  [
    'with a time that is none',
    { name: 'a', url, discoveryTimeoutMs: 2 ** 31 },
    /discoveryTimeoutMs" must be/,
  ],
  ['with a time to live that is none', { name: 'a', url, ttlMs: -1 }, /ttlMs" must be milliseconds/],
  ['with a misspelt breaker', { name: 'a', url, breaker: { percentage: 5 } }, /unknown.*breaker\.percentage/],
  ['with more than all', { name: 'a', url, breaker: { errorPercentage: 101 } }, /up to 100/],
  ['with a yes', { name: 'a', url, skipWhenUnlisted: 'yes' }, /skipWhenUnlisted" must be true or false/],
  ['that is sent what nobody knows', { name: 'a', url, send: { playload: [] } }, /unknown.*send\.playload/],
  [
    'that is sent no pointer',
    { name: 'a', url, send: { payload: ['name'] } },
    /send\.payload\[0\]" must be a JSON Pointer/,
  ],
  ['that is sent an unknown part', { name: 'a', url, send: { context: ['user'] } }, /"principal", "claims"/],
])('a host of interceptors %s stops the bootstrap', async (_what, server, message) => {
  const servers = [server] as unknown as McpInterceptorOptions['servers'];
  await expect(start([validatorWith({ events: ['*'] })], { servers })).rejects.toThrow(message);
});
