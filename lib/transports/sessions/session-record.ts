import { isInitializeRequest, type LoggingLevel, type RequestId } from '@modelcontextprotocol/server';
import type { SessionFields } from '../../stores/session-store.js';
import type { StateChange } from '../../server/connection-server.js';
import { jsonIn } from '../../util/json-in.js';

/** The version of records. A node treats sessions of a newer version as unknown sessions. */
const VERSION = 1;

const SUBSCRIBED = 'sub:';
const STREAM = 'stream:';

/** The data that a node needs to serve a session of another node. */
export interface SessionRecord {
  readonly caller: string;
  /** The time of opening, in milliseconds since 1970. */
  readonly openedAt: number;
  readonly params: Record<string, unknown>;
}

export interface SharedState extends SessionRecord {
  readonly level?: LoggingLevel;
  readonly subscribed: readonly string[];
}

export const fieldsOf = ({ caller, openedAt, params }: SessionRecord): SessionFields => ({
  v: String(VERSION),
  caller,
  at: String(openedAt),
  params: JSON.stringify(params),
});

/** @returns undefined for a record of a newer version, and for a malformed record */
export function stateIn(fields: SessionFields): SharedState | undefined {
  const { v, caller, at, params: text, level } = fields;
  const params = jsonIn(text);
  const openedAt = Number(at);
  if (!(Number(v) <= VERSION) || caller === undefined || !Number.isSafeInteger(openedAt)) return undefined;
  if (!isInitialize(params)) return undefined;
  return {
    caller,
    openedAt,
    params,
    level: level as LoggingLevel | undefined,
    subscribed: Object.keys(fields)
      .filter(name => name.startsWith(SUBSCRIBED))
      .map(name => name.slice(SUBSCRIBED.length)),
  };
}

export const fieldsOfChange = ({ level, subscribe, unsubscribe }: StateChange) => ({
  ...(level !== undefined && { level }),
  ...(subscribe !== undefined && { [SUBSCRIBED + subscribe]: '' }),
  ...(unsubscribe !== undefined && { [SUBSCRIBED + unsubscribe]: undefined }),
});

/** @param requests the requests that the stream answers; undefined if it has ended */
export const fieldOfStream = (stream: string, requests?: readonly RequestId[]) => ({
  [STREAM + stream]: requests && JSON.stringify(requests),
});

export function requestsIn(fields: SessionFields | undefined, stream: string): RequestId[] | undefined {
  const requests = jsonIn(fields?.[STREAM + stream]);
  return Array.isArray(requests) ? (requests as RequestId[]) : undefined;
}

const isInitialize = (params: unknown): params is SessionRecord['params'] =>
  isInitializeRequest({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
