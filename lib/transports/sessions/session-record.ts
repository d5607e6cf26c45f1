import type { LoggingLevel, RequestId } from '@modelcontextprotocol/server';
import type { SessionFields } from '../../shared/session-store.js';
import type { StateChange } from '../../server/connection-server.js';

/** The version of records. A node treats sessions of a newer version as unknown sessions. */
const VERSION = 1;

const SUBSCRIBED = 'sub:';
const STREAM = 'stream:';

/** The data that a node needs to serve a session of another node. */
export interface SessionRecord {
  /** The caller that opened the session. */
  readonly caller: string;
  /** The time of opening, in milliseconds since 1970. */
  readonly openedAt: number;
  /** The parameters of `initialize`. */
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

/** @returns undefined for a record of a newer version */
export function stateIn(fields: SessionFields): SharedState | undefined {
  const { v, caller, at, params, level } = fields;
  if (!(Number(v) <= VERSION)) return undefined;
  return {
    caller,
    openedAt: Number(at),
    params: JSON.parse(params) as Record<string, unknown>,
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
  const text = fields?.[STREAM + stream];
  return text === undefined ? undefined : (JSON.parse(text) as RequestId[]);
}
