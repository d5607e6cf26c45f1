import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { McpCall } from '../protocol/mcp-call.js';

/** Key in `_meta` with the number of gateways that a request has passed. */
export const HOPS_META = 'nestjs-mcp/hops';
/** Environment variable with the number of gateways that started each other over stdio. */
const HOPS_ENV = 'NESTJS_MCP_HOPS';

/** The most gateways that a request may pass. */
const MAX_HOPS = 8;

const REASON = 'gateway_loop';

const loop = (): McpException =>
  new McpException(
    McpErrorCode.Refused,
    `The request went through more than ${MAX_HOPS} gateways: they form a loop`,
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

export function nextEnvironment(): Record<string, string> {
  const hops = Number(process.env[HOPS_ENV] ?? 0) + 1;
  if (!(hops <= MAX_HOPS)) throw loop();
  return { [HOPS_ENV]: String(hops) };
}
