import type { IncomingMessage } from 'node:http';
import { RequestCheck } from '../transports/http/request-check.js';
import { isLoopback } from '../util/network-of.js';
import { ApiFailure } from './api-failure.js';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Headers that proxies add: the request comes from elsewhere, whatever the address of the socket. */
const FORWARDING =
  /^(forwarded|via|x-(original-)?forwarded-.*|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/;

/** A page of another origin cannot set it, unless CORS lets it. */
const OWN_HEADER = 'mcp-explorer';

/**
 * Decides which requests the explorer answers, before it looks at what they ask for. The result throws an `ApiFailure` for a
 * request that is refused.
 * @param isGuarded whether guards of the application decide who may look
 */
export function requestGate(isGuarded: boolean): (request: IncomingMessage, isApi: boolean) => void {
  const names = isGuarded ? '*' : LOOPBACK;
  // Its warnings name options of a server.
  const check = new RequestCheck({ allowedHosts: names, allowedOrigins: names }, () => undefined);
  return (request, isApi) => {
    if (!isGuarded) assertLocal(request);
    const refusal = check.refusal({ rawRequest: request, caller: '' });
    if (refusal) throw new ApiFailure(refusal.status, refusal.message);
    if (isApi) assertSameOrigin(request);
  };
}

function assertLocal({ socket, headers }: IncomingMessage): void {
  const isForwarded = Object.keys(headers).some(name => FORWARDING.test(name));
  if (!isForwarded && isLoopback(socket.remoteAddress)) return;
  throw new ApiFailure(
    403,
    'Without guards, the explorer answers requests of this machine only; pass "guards" to McpExplorerModule.forRoot()',
  );
}

/** Browsers send these headers, and pages cannot change them. */
function assertSameOrigin({ method, headers }: IncomingMessage): void {
  const { origin, host, 'sec-fetch-site': site } = headers;
  const isFromPage = site === undefined || site === 'same-origin' || (site === 'none' && method === 'GET');
  // A proxy in front of guards may have changed the Host.
  const isOwn = origin === undefined || site === 'same-origin' || hostOf(origin) === host;
  if (!isFromPage || !isOwn) throw new ApiFailure(403, 'The request comes from another origin');
  if (method === 'POST' && headers[OWN_HEADER] === undefined) {
    throw new ApiFailure(403, `A POST needs the header "${OWN_HEADER}: 1"`);
  }
}

const hostOf = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined;
