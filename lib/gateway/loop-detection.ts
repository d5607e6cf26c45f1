import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { McpCall } from '../protocol/mcp-call.js';

/** Key in `_meta` with the number of gateways that a request has passed. */
export const HOPS_META = 'nestjs-mcp/hops';
/** HTTP header with the ids of the gateways that a request has passed, to find a loop while gateways connect. */
export const VIA_HEADER = 'nestjs-mcp-via';
/** Environment variable with the number of gateways that started each other over stdio. */
const HOPS_ENV = 'NESTJS_MCP_HOPS';

/** The most gateways that a request may pass. */
const MAX_HOPS = 8;

const REASON = 'gateway_loop';

const loop = (): McpException =>
  new McpException(
    McpErrorCode.Refused,
    `The request went through more than ${MAX_HOPS} gateways, or twice through one: they form a loop`,
    { reason: REASON },
  );

export function loopIn(thrown: unknown, causes = 4): McpException | undefined {
  if (!(thrown instanceof Error) || causes === 0) return undefined;
  const { data, cause } = thrown as { data?: { reason?: unknown } } & Error;
  return data?.reason === REASON ? loop() : loopIn(cause, causes - 1);
}

/** Counts this gateway too. @throws McpException (-32000) past eight */
export function nextHop(meta: McpCall['meta']): number {
  const hops = meta?.[HOPS_META];
  const next = typeof hops === 'number' && Number.isSafeInteger(hops) && hops > 0 ? hops + 1 : 1;
  if (next > MAX_HOPS) throw loop();
  return next;
}

/** A gateway's id; other text in the header is dropped. */
const ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** @throws McpException (-32000) if this gateway is among them, or there are too many */
export function viaOf(http: McpCall['http'], own: string): string[] {
  const header = http?.headers[VIA_HEADER];
  if (typeof header !== 'string') return [];
  const via = header
    .split(',')
    .map(id => id.trim())
    .filter(id => ID.test(id));
  if (via.length >= MAX_HOPS || via.includes(own)) throw loop();
  return via;
}

export function nextEnvironment(): Record<string, string> {
  const hops = Number(process.env[HOPS_ENV] ?? 0) + 1;
  if (!(hops <= MAX_HOPS)) throw loop();
  return { [HOPS_ENV]: String(hops) };
}
