import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  SERVER_INFO_META_KEY,
  type ClientCapabilities,
  type LoggingLevel,
  type Result,
} from '@modelcontextprotocol/server';
import type { Params } from '../server/dispatcher.js';
import type { Era, Exchange } from '../server/exchange.js';
import { HOPS_META, nextHop } from './loop-detection.js';

/**
 * What of a client's capabilities goes through the gateway. Others would have backends send what it cannot hand on; and of
 * these only what the protocol knows, for callers whose capabilities are the same share connections and lists.
 */
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

/**
 * The params of a request as the backend gets them: those of the client, with what its revision says with every request.
 * @param era the backend's
 * @param requestState the backend's own
 * @param level the log level that the client has set for its connection
 */
export function paramsFor(
  era: Era,
  params: Params,
  exchange: Exchange,
  requestState?: unknown,
  level?: LoggingLevel,
): Params {
  const meta = { ...(params['_meta'] as Params | undefined), [HOPS_META]: nextHop(exchange.meta) };
  if (era === 'legacy') return { ...params, _meta: meta };
  const { clientInfo, clientCapabilities, inputResponses } = exchange;
  // A 2025-era client that has set no level is sent everything.
  const logLevel = exchange.era === 'modern' ? exchange.logLevel : (level ?? 'debug');
  return {
    ...params,
    ...(inputResponses && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
    _meta: {
      ...meta,
      ...(clientInfo && { [CLIENT_INFO_META_KEY]: clientInfo }),
      [CLIENT_CAPABILITIES_META_KEY]: askable(clientCapabilities),
      ...(logLevel !== undefined && { [LOG_LEVEL_META_KEY]: logLevel }),
    },
  };
}

/** A backend's result as a client gets it: without what its revision does not know. */
export function resultFor(era: Era, result: Result): Result {
  if (era === 'modern') return result;
  const { ttlMs: _ttlMs, cacheScope: _cacheScope, _meta, ...rest } = result;
  const { [SERVER_INFO_META_KEY]: _info, ...meta } = _meta ?? {};
  return { ...rest, ...(Object.keys(meta).length > 0 && { _meta: meta }) };
}
