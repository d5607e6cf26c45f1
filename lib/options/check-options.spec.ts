import { describe as describeSchema, problemOf, resolve } from './check-options.js';
import { COUNT, FLAG, FUNCTION, listOf, objectOf, oneOf, TEXT, TEXTS, TIME } from './option-schema.js';

interface Options {
  name: string;
  mode?: 'on' | 'off';
  timeoutMs?: number;
  store?: object;
  log?: () => void;
  limits?: { max?: number } | false;
  names?: string | string[];
  rules?: { allow: string[] }[];
  byName?: Record<string, { isOn?: boolean }>;
}

const LIMITS = objectOf<{ max?: number }, { max: number }>({ max: { ...COUNT, default: 5 } });

type Filled = Options & Required<Pick<Options, 'mode' | 'limits'>>;

const SCHEMA = objectOf<Options, Filled>(
  {
    name: TEXT,
    mode: { ...oneOf('on', 'off'), default: 'on' },
    timeoutMs: TIME,
    store: { type: 'object' },
    log: FUNCTION,
    limits: { anyOf: [LIMITS, oneOf(false)], default: {}, description: 'an object, or false' },
    names: TEXTS,
    rules: listOf(objectOf<{ allow: string[] }>({ allow: listOf(TEXT) }, { required: ['allow'] })),
    byName: { type: 'object', additionalProperties: objectOf<{ isOn?: boolean }>({ isOn: FLAG }) },
  },
  {
    title: 'options',
    required: ['name'],
    problem: ({ mode, log }: Options, name) =>
      mode === 'off' && log ? `${name('log')} is only for the mode "on"` : undefined,
  },
);

const resolved = (options: unknown) =>
  resolve(SCHEMA, options as Options, problem => new RangeError(problem));

it('fills in the defaults, also those of an object that is not given', () => {
  expect(resolved({ name: 'a', timeoutMs: undefined })).toEqual({
    name: 'a',
    mode: 'on',
    limits: { max: 5 },
  });
  expect(resolved({ name: 'a', limits: false })).toEqual({ name: 'a', mode: 'on', limits: false });
});

it('reads the options of an instance of a class', () => {
  class Configuration {
    get name() {
      return 'a';
    }
  }
  expect(resolved(new Configuration())).toMatchObject({ name: 'a' });
});

it('keeps live values as they are, cyclic ones too', () => {
  const store: Record<string, unknown> = { at: new Date(), pattern: /a/ };
  store['self'] = store;
  const log = () => undefined;
  const rules = [{ allow: ['a'] }];
  const options = resolved({ name: 'a', store, log, rules });
  expect(options.store).toBe(store);
  expect(options.log).toBe(log);
  expect(options.rules).toBe(rules);
});

it.each<[unknown, string]>([
  [undefined, 'options must be an object with name, mode, '],
  [[], 'options must be an object'],
  [{}, '"name" must be a non-empty string'],
  [{ name: ' ' }, '"name" must be a non-empty string'],
  [{ name: 'a', nmae: 1 }, 'unknown option "nmae"; known are name, mode, '],
  [{ name: 'a', nmae: undefined }, 'unknown option "nmae"'],
  [{ name: 'a', mode: 'of' }, '"mode" must be "on" or "off", not "of"'],
  [{ name: 'a', timeoutMs: 0 }, '"timeoutMs" must be a whole number above 0, up to 2147483647'],
  [{ name: 'a', timeoutMs: NaN }, '"timeoutMs" must be a whole number'],
  [{ name: 'a', log: {} }, '"log" must be a function'],
  [{ name: 'a', limits: true }, '"limits" must be an object, or false'],
  [{ name: 'a', limits: { max: 1.5 } }, '"limits.max" must be a whole number above 0'],
  [{ name: 'a', names: [] }, '"names" must be a text that is not empty, or a list of some'],
  [{ name: 'a', names: ['b', 1] }, '"names[1]" must be a non-empty string'],
  [{ name: 'a', rules: [{ allow: [] }, {}] }, '"rules[1].allow" must be a list'],
  [{ name: 'a', byName: { 'b.c': { isOn: 1 } } }, '"byName["b.c"].isOn" must be true or false'],
  [{ name: 'a', mode: 'off', log: () => 1 }, '"log" is only for the mode "on"'],
])('refuses %j and says where', (options, sentence) => {
  expect(() => resolved(options)).toThrow(RangeError);
  expect(() => resolved(options)).toThrow(sentence);
});

it('lists all mistakes at once', () => {
  const options = { mode: 'of', limits: { max: 0, min: 1 }, names: ['b', 1, 2] };
  expect(() => resolved(options)).toThrow(
    /^6 mistakes\n1\. .*"name".*\n2\. .*"mode".*\n3\. unknown option "limits\.min".*\n4\. .*"limits\.max".*\n5\. "names\[1\]".*\n6\. "names\[2\]"/,
  );
});

it.each([
  [{ nmae: 'a' }, 'did you mean "name"?'],
  [{ timeoutms: 5 }, 'did you mean "timeoutMs"?'],
  [{ limits: { maxx: 5 } }, 'did you mean "limits.max"?'],
  [{ max: 5 }, 'did you mean "limits.max"?'],
])('proposes the option that %j means', (options, sentence) => {
  expect(() => resolved({ name: 'a', ...options })).toThrow(sentence);
});

it('proposes nothing for a name like no other', () => {
  expect(() => resolved({ name: 'a', colour: 1 })).toThrow(/byName$/);
});

it('a problem has the steps to its place', () => {
  const steps = ['servers', '0'];
  expect(problemOf(SCHEMA, { name: 'a', limits: { max: 0 } }, steps)).toMatchObject({
    steps: ['servers', '0', 'limits', 'max'],
    value: 0,
  });
});

it.each([
  [{ type: 'number', minimum: 0 }, 'a number, 0 or more'],
  [{ type: 'integer', minimum: 0, maximum: 3 }, 'a whole number from 0 to 3'],
  [{ type: 'integer' }, 'a whole number'],
  [listOf(TEXT, undefined, 1), 'a list with at least one'],
  [oneOf(true, false, 'only'), 'true, false or "only"'],
] as const)('says what %j allows', (schema, words) => {
  expect(describeSchema(schema)).toBe(words);
});

it('the type check sees an option without a schema, and a default that is missing', () => {
  // @ts-expect-error `limits` has no schema
  objectOf<{ name: string; limits?: object }>({ name: TEXT });
  // @ts-expect-error `max` is always there in the filled options, and has no default
  objectOf<{ max?: number }, { max: number }>({ max: COUNT });
  // @ts-expect-error there is no option `nmae`
  objectOf<{ name: string }>({ name: TEXT, nmae: TEXT });
});
