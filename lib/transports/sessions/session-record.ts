import type { LoggingLevel, RequestId } from '@modelcontextprotocol/server';
import type { SessionFields } from '../../shared/session-store.js';
import type { StateChange } from '../../server/connection-server.js';

/** The version of records. A node answers sessions of a newer version as it does those it does not know. */
const VERSION = 1;

const SUBSCRIBED = 'sub:';
const STREAM = 'stream:';

/** What a node needs to know to serve a session that another node has opened. */
export interface SessionRecord {
  /** Who opened it. */
  readonly caller: string;
  /** When, in milliseconds since 1970. */
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

/** @param requests what the stream is to answer; undefined: it has ended */
export const fieldOfStream = (stream: string, requests?: readonly RequestId[]) => ({
  [STREAM + stream]: requests && JSON.stringify(requests),
});

export function requestsIn(fields: SessionFields | undefined, stream: string): RequestId[] | undefined {
  const text = fields?.[STREAM + stream];
  return text === undefined ? undefined : (JSON.parse(text) as RequestId[]);
}
