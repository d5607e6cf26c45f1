import { isInitializeRequest, type LoggingLevel } from '@modelcontextprotocol/server';
import type { SessionFields } from '../../stores/session-store.js';
import type { StateChange } from '../../server/connection-server.js';
import { jsonIn } from '../../util/json-in.js';

/** The version of records. A node treats sessions of a newer version as unknown sessions. */
const VERSION = 1;

const SUBSCRIBED = 'sub:';

/** Stands for the time when the client stopped to listen, while it listens. */
export const LISTENS = 'now';

/** The data that a node needs to serve a session of another node. */
export interface SessionRecord {
  readonly caller: string;
  /** The time of opening, in milliseconds since 1970. */
  readonly openedAt: number;
  readonly params: Record<string, unknown>;
  /** The node that sends the messages that belong to no call. */
  readonly home: string;
  /** The shared texts of the client's side, as JSON. Undefined for servers that do not use it. */
  readonly channel?: string;
}

export interface SharedState extends SessionRecord {
  /** When the client stopped to listen, in milliseconds since 1970; undefined while it listens at the home. */
  readonly listenedUntil?: number;
  /** When a node used the session last, in milliseconds since 1970. */
  readonly usedAt: number;
  readonly level?: LoggingLevel;
  readonly subscribed: readonly string[];
}

export const fieldsOf = ({ caller, openedAt, params, home, channel }: SessionRecord): SessionFields => ({
  v: String(VERSION),
  caller,
  home,
  at: String(openedAt),
  params: JSON.stringify(params),
  ...(channel !== undefined && { channel }),
});

/** @returns undefined for a record of a newer version, and for a malformed record */
export function stateIn(fields: SessionFields): SharedState | undefined {
  const { v, caller, at, params: text, level, channel, home = '', seen = at, used = at } = fields;
  const params = jsonIn(text);
  const openedAt = Number(at);
  if (!(Number(v) <= VERSION) || caller === undefined || !Number.isSafeInteger(openedAt)) return undefined;
  if (!isInitialize(params)) return undefined;
  return {
    caller,
    openedAt,
    params,
    home,
    channel,
    listenedUntil: seen === LISTENS ? undefined : Number(seen),
    usedAt: Number(used),
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

const isInitialize = (params: unknown): params is SessionRecord['params'] =>
  isInitializeRequest({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
