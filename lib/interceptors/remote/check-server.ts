import type { ConnectionOptions } from '../../connection/connection-options.js';
import { MAX_TIMER_MS } from '../../constants.js';
import type { Check } from '../../option-check.js';
import {
  isBoolean,
  isCount,
  isFunction,
  isListOf,
  isOneOf,
  isText,
  isUpTo,
  type OptionRule,
  type OptionTest,
} from '../../option-rules.js';
import { isJsonPointer } from '../../schema/json-pointer.js';
import { isRecord } from '../../schema/plain-json.js';
import type { HostPolicy, HostSendOptions, InterceptorServerOptions } from './host-options.js';

const BOOLEAN: OptionRule = [isBoolean, 'true or false'];
const COUNT: OptionRule = [isCount, 'a whole number above 0'];
const TIME: OptionRule = [isUpTo(MAX_TIMER_MS), `a whole number of milliseconds from 1 to ${MAX_TIMER_MS}`];
const TEXT: OptionRule = [isText, 'a string that is not empty'];

const CONNECTION: Readonly<Record<keyof ConnectionOptions, OptionRule>> = {
  url: [isHttpUrl, 'an absolute URL with http or https, such as "https://example.com/mcp"'],
  headers: [value => isRecord(value) || isFunction(value), 'an object, or a function that makes one'],
  command: [isText, 'the name of a program'],
  args: [isListOf(value => typeof value === 'string'), 'a list of strings'],
  env: [isRecord, 'an object of strings'],
  cwd: TEXT,
  stderr: [isOneOf('inherit', 'ignore'), '"inherit" or "ignore"'],
  transport: [isFunction, 'a function that makes a transport for each connection'],
  era: [isOneOf('auto', 'modern', 'legacy'), '"auto", "modern" or "legacy"'],
  capabilities: [isRecord, 'an object'],
  connectTimeoutMs: TIME,
  reconnectDelayMs: TIME,
  maxReconnectDelayMs: TIME,
  maxResponseBytes: COUNT,
};

const SEND: Readonly<Record<keyof HostSendOptions, OptionRule>> = {
  payload: [isListOf(isJsonPointer), 'a list of JSON Pointers, such as "/arguments/query"'],
  context: [
    isListOf(isOneOf('principal', 'claims', 'trace', 'session', 'timestamp')),
    'a list of "principal", "claims", "trace", "session" and "timestamp"',
  ],
  headers: [isListOf(isText), 'a list of names'],
};

const BREAKER: Readonly<Record<keyof NonNullable<HostPolicy['breaker']>, OptionRule>> = {
  errorPercentage: [
    value => typeof value === 'number' && value > 0 && value <= 100,
    'a number above 0, up to 100',
  ],
  volume: COUNT,
  resetMs: TIME,
};

const POLICY: Readonly<Record<keyof HostPolicy, OptionRule>> = {
  send: [isRecord, '{ payload, context, headers }'],
  maxConcurrent: COUNT,
  maxInterceptors: COUNT,
  maxResultBytes: COUNT,
  ttlMs: [value => typeof value === 'number' && value >= 0, 'milliseconds, 0 or more'],
  discoveryTimeoutMs: TIME,
  breaker: [isRecord, '{ errorPercentage, volume, resetMs }'],
  skipWhenUnlisted: BOOLEAN,
};

const NAME: OptionRule = [
  value => isText(value) && !value.includes('/'),
  'a string that is not empty, without a "/": overrides name an interceptor "host/name"',
];
const CLIENT: OptionRule = [isObjectWith('request'), 'a connected client'];
const INVOKER: OptionRule = [isObjectWith('list', 'invoke'), 'an object with "list" and "invoke"'];

const SERVER = { name: NAME, connectionId: TEXT, client: CLIENT, invoker: INVOKER, ...POLICY, ...CONNECTION };

/**
 * Checks an entry of `interceptors.servers`.
 * @param where what messages call it
 */
export function checkServer(server: unknown, where: string, check: Check): void {
  check(isRecord(server), `"${where}" must be an object with a "name"`);
  const options = server as InterceptorServerOptions & Record<string, unknown>;
  check(NAME[0](options.name), `"${where}.name" must be ${NAME[1]}`);
  checkRules(options, SERVER, where, check);
  checkRules(options.send ?? {}, SEND, `${where}.send`, check);
  checkRules(options.breaker ?? {}, BREAKER, `${where}.breaker`, check);
  checkWay(options, where, check);
}

function checkWay(options: Record<string, unknown>, where: string, check: Check): void {
  const has = (key: string) => options[key] !== undefined;
  const ready = ['client', 'invoker'].filter(has);
  const connection = Object.keys(CONNECTION).filter(has);
  const ways = ['url', 'command', 'transport'].filter(has);
  check(
    ready.length + (ready.length > 0 ? connection.length : ways.length) === 1,
    `"${where}" ("${String(options['name'])}") needs one of "url", "command" and "transport", or else a "client" or an "invoker"`,
  );
}

function checkRules(
  options: object,
  rules: Readonly<Record<string, OptionRule>>,
  where: string,
  check: Check,
): void {
  check.known(options, Object.keys(rules), where);
  for (const [key, value] of Object.entries(options)) {
    const [test, what] = rules[key];
    check(value === undefined || test(value), `"${where}.${key}" must be ${what}`);
  }
}

function isHttpUrl(value: unknown): boolean {
  const isUrl = value instanceof URL || (isText(value) && URL.canParse(value));
  return isUrl && /^https?:$/.test(new URL(value).protocol);
}

/** A class instance, as a client is one, will do. */
function isObjectWith(...methods: readonly string[]): OptionTest {
  return value => isRecord(value) && methods.every(method => isFunction(value[method]));
}
