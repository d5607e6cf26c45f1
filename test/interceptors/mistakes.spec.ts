import { Injectable, Logger, Scope } from '@nestjs/common';
import { Mutator, Sink, Validator, type McpInterceptorOptions, type ValidatorOptions } from 'nestjs-mcp';
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
  ['no event', {}, /hooks no event/],
  ['an empty list of events', { events: [] }, /hooks no event/],
  ['an event that is no string', { events: [1 as unknown as string] }, /1 is no event/],
  ['an event that is no name', { events: ['a b'] }, /"a b" is no event/],
  ['an unknown phase', { events: ['*'], phase: 'always' as 'both' }, /phase "always" is unknown/],
  ['an unknown mode', { events: ['*'], mode: 'off' as 'audit' }, /mode "off" is unknown/],
  ['an empty name', { events: ['*'], name: '' }, /"name" is empty/],
  ['a timeout that is none', { events: ['*'], timeoutMs: 0 }, /"timeoutMs" must be a whole number/],
  [
    'a configSchema that does not compile',
    { events: ['*'], configSchema: { type: 'nonsense' } },
    /nonsense|type/,
  ],
  ['an unknown server', { events: ['*'], server: 'nope' }, /no MCP server "nope"/],
] as [string, ValidatorOptions, RegExp][])(
  '%s stops the bootstrap, naming class and method',
  async (_what, options, message) => {
    const starting = start([validatorWith(options)]);
    await expect(starting).rejects.toThrow(/^Rules\.check: /);
    await expect(starting).rejects.toThrow(message);
  },
);

it.each([2 ** 31, -(2 ** 31) - 1, 0.5, NaN, { request: 2 ** 31 }])(
  'the priority %j stops the bootstrap',
  async priority => {
    class Rules {
      @Mutator({ events: ['*'], priority })
      change() {
        return undefined;
      }
    }
    await expect(start([Rules])).rejects.toThrow(/Rules\.change: .*32-bit integer/);
  },
);

it('two interceptors of one name stop the bootstrap, naming both', async () => {
  class Other {
    @Sink({ name: 'check', events: ['*'] })
    record() {
      return undefined;
    }
  }
  await expect(start([validatorWith({ events: ['*'] }), Other])).rejects.toThrow(
    /Other\.record: the interceptor "check" exists already, in Rules\.check/,
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

it.each([
  ['an unknown interceptor', { overrides: { nope: {} } }, /names "nope"/],
  ['an unknown field', { overrides: { check: { when: 1 } as object } }, /unknown.*when/],
  [
    'hooks that widen',
    { overrides: { check: { hooks: [{ events: ['*'], phase: 'request' }] } } },
    /can only narrow/,
  ],
  ['an unknown mode', { overrides: { check: { mode: 'off' as 'audit' } } }, /mode/],
  ['a priority that is none', { overrides: { check: { priority: 1.5 } } }, /32-bit integer/],
  ['a configuration for nobody', { config: { nope: {} } }, /names "nope"/],
  ['a time that is none', { timeoutMs: -1 }, /timeoutMs/],
  ['an unknown denial', { denial: 'silence' as 'error' }, /denial/],
  ['an unknown option', { applied: true } as McpInterceptorOptions, /unknown.*applied/],
] as [string, McpInterceptorOptions, RegExp][])(
  'an option with %s stops the bootstrap',
  async (_what, interceptors, message) => {
    await expect(start([validatorWith({ events: ['tools/call'] })], interceptors)).rejects.toThrow(message);
  },
);

describe('what looks like a mistake is said in the log', () => {
  const remarks = async (...handlers: (new () => object)[]) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const test = await start(handlers);
    const said = warn.mock.calls.map(([message]) => String(message));
    warn.mockRestore();
    await test.close();
    return said.join('\n');
  };

  class Changes {
    @Mutator({ events: ['tools/call'] })
    change() {
      return undefined;
    }
  }

  it.each([
    [
      'a hook that never matches',
      [validatorWith({ events: ['tools/cal'] })],
      /check hooks tools\/cal, which never happens/,
    ],
    [
      'a validator that fails open',
      [validatorWith({ events: ['*'], failOpen: true })],
      /check lets messages through unchecked/,
    ],
    [
      'a mutation that no validator sees',
      [validatorWith({ events: ['tools/call'] }), Changes],
      /no validator sees what change makes/,
    ],
  ])('%s', async (_what, handlers, remark) => {
    expect(await remarks(...handlers)).toMatch(remark);
  });

  it('and nothing where there is none', async () => {
    expect(
      await remarks(validatorWith({ events: ['tools/call', 'custom/event'], final: true }), Changes),
    ).toBe('');
  });
});
