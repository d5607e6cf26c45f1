import { hash } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  SERVER_INFO_META_KEY,
  type ClientCapabilities,
  type LoggingLevel,
  type Result,
} from '@modelcontextprotocol/server';
import { callerOf } from '../protocol/caller.js';
import { declares } from '../protocol/declared-extension.js';
import type { Era, McpCall, Params } from '../protocol/mcp-call.js';
import { TASKS_EXTENSION } from '../protocol/tasks.js';
import { HOPS_META, nextHop } from './loop-detection.js';

/** The known capabilities only: callers with equal capabilities share connections and lists. */
export function askable({ roots, sampling, elicitation }: ClientCapabilities = {}): ClientCapabilities {
  return {
    ...(roots && { roots: { ...(roots.listChanged === true && { listChanged: true }) } }),
    ...(sampling && {
      sampling: { ...(sampling.tools && { tools: {} }), ...(sampling.context && { context: {} }) },
    }),
    ...(elicitation && {
      elicitation: {
        ...(elicitation.form && {
          form: { ...(elicitation.form.applyDefaults === true && { applyDefaults: true }) },
        }),
        ...(elicitation.url && { url: {} }),
      },
    }),
  };
}

/** Whether the client of a call takes a task for its answer. */
export const takesTasks = (call: McpCall): boolean =>
  call.era === 'modern' && declares(call, TASKS_EXTENSION);

/** Callers with the same key share connections and lists. A client's name is not part of it: it may differ in each call. */
export function callerKey(call: McpCall): string {
  const { authInfo, http, clientCapabilities } = call;
  const caller = callerOf(authInfo, http?.request);
  const key = JSON.stringify([caller, askable(clientCapabilities), takesTasks(call)]);
  // A digest is never a JSON array.
  return key.length <= MAX_KEY ? key : hash('sha256', key, 'base64url');
}

/** The most characters of a key that is kept as it is. */
const MAX_KEY = 200;

/** The part of a view that a caller with these scopes sees. */
export const viewBy = (view: string, scopes: readonly string[] = []): string =>
  hash('sha256', JSON.stringify([view, ...[...scopes].sort()]), 'base64url');

export interface SentParams {
  readonly requestState?: unknown;
  /** The log level that the client has set for its connection. */
  readonly level?: LoggingLevel;
  /** Whether the backend may answer with a task. Default: false. */
  readonly mayBeTask?: boolean;
}

export function paramsFor(
  era: Era,
  params: Params,
  exchange: McpCall,
  { requestState, level, mayBeTask = false }: SentParams = {},
): Params {
  const meta = { ...(params['_meta'] as Params | undefined), [HOPS_META]: nextHop(exchange.meta) };
  if (era === 'legacy') return { ...params, _meta: meta };
  const { clientInfo, clientCapabilities, inputResponses } = exchange;
  // A 2025-era client that has set no level gets all messages.
  const logLevel = exchange.era === 'modern' ? exchange.minLogLevel : (level ?? 'debug');
  return {
    ...params,
    ...(inputResponses && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
    _meta: {
      ...meta,
      ...(clientInfo && { [CLIENT_INFO_META_KEY]: clientInfo }),
      [CLIENT_CAPABILITIES_META_KEY]: {
        ...askable(clientCapabilities),
        ...(mayBeTask && { extensions: { [TASKS_EXTENSION]: {} } }),
      },
      ...(logLevel !== undefined && { [LOG_LEVEL_META_KEY]: logLevel }),
    },
  };
}

export function resultFor(era: Era, result: Result): Result {
  if (era === 'modern') return result;
  const { ttlMs: _ttlMs, cacheScope: _cacheScope, _meta, ...rest } = result;
  const { [SERVER_INFO_META_KEY]: _info, ...meta } = _meta ?? {};
  return { ...rest, ...(Object.keys(meta).length > 0 && { _meta: meta }) };
}
