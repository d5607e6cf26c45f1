import { McpBootstrapError } from '../../exceptions/mcp-bootstrap.error.js';
import { resolve } from '../../options/check-options.js';
import { CONNECTION, type ConnectionOptions } from '../../connection/connection-options.js';
import {
  COUNT,
  FLAG,
  listOf,
  objectOf,
  oneOf,
  TEXT,
  TIME,
  type OptionSchema,
} from '../../options/option-schema.js';
import { isJsonPointer } from '../../schema/json-schema.js';
import { hasMethods } from '../../util/values.js';
import type { HostPolicy, HostSendOptions, InterceptorServerOptions } from './host-options.js';
import type { InterceptorClient, InterceptorInvoker } from './invoker.js';

export const POINTER: OptionSchema = {
  type: 'string',
  accepts: isJsonPointer,
  description: 'a JSON Pointer, such as "/arguments/query"',
};

export const SEND = objectOf<HostSendOptions>({
  payload: listOf(POINTER, 'a list of JSON Pointers, such as "/arguments/query"'),
  context: listOf(oneOf('principal', 'claims', 'trace', 'session', 'timestamp')),
  headers: listOf(TEXT, 'a list of names'),
});

export const BREAKER = objectOf<NonNullable<HostPolicy['breaker']>>({
  errorPercentage: {
    type: 'number',
    accepts: (value: number) => value > 0 && value <= 100,
    description: 'a number above 0, up to 100',
  },
  volume: COUNT,
  resetMs: TIME,
});

type AnyHost = InterceptorServerOptions &
  ConnectionOptions & { client?: InterceptorClient; invoker?: InterceptorInvoker };

export const HOST = objectOf<AnyHost>(
  {
    name: {
      ...TEXT,
      accepts: (name: string) => !name.includes('/'),
      description: 'a non-empty string, without a "/": overrides name an interceptor "host/name"',
    },
    connectionId: TEXT,
    client: { accepts: hasMethods('request'), description: 'a connected client' },
    invoker: { accepts: hasMethods('list', 'invoke'), description: 'an object with "list" and "invoke"' },
    send: SEND,
    maxConcurrent: COUNT,
    maxInterceptors: COUNT,
    maxResultBytes: COUNT,
    ttlMs: { type: 'number', minimum: 0, description: 'milliseconds, 0 or more' },
    discoveryTimeoutMs: TIME,
    breaker: BREAKER,
    skipWhenUnlisted: FLAG,
    ...CONNECTION.properties,
  },
  { required: ['name'], description: 'an object with a "name"', problem: problemOfWay },
);

const SERVERS = objectOf({
  interceptors: objectOf({ servers: listOf(HOST, 'a list of hosts, each with a "name"') }),
});

/** @throws McpBootstrapError for an option of a host that is missing, unknown or wrong */
export function assertHosts(servers: readonly InterceptorServerOptions[], where: string): void {
  const fail = (problem: string) => new McpBootstrapError(where, problem);
  resolve(SERVERS, { interceptors: { servers } }, fail);
}

function problemOfWay(options: AnyHost, name: (key?: string) => string): string | undefined {
  const has = (key: string) => options[key as keyof AnyHost] !== undefined;
  const ready = ['client', 'invoker'].filter(has);
  const connection = Object.keys(CONNECTION.properties).filter(has);
  const ways = ['url', 'command', 'transport'].filter(has);
  if (ready.length + (ready.length > 0 ? connection.length : ways.length) !== 1) {
    return `${name()} ("${options.name}") needs one of "url", "command" and "transport", or else a "client" or an "invoker"`;
  }
  return ready.length > 0 ? undefined : CONNECTION.problem?.(options as never, name);
}
