import type { IncomingMessage } from 'node:http';
import { isJsonContentType, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import type { ResolvedHttpOptions } from '../../server/server-options.js';
import { isRepeated } from '../../headers/header-check.js';
import { limitKeyOf } from '../../protocol/caller-limit.js';
import { clipped } from '../../util/clipped.js';
import type { Incoming } from './incoming.js';
import { TransportError } from './transport-error.js';

const METHODS = ['POST', 'GET', 'DELETE'];

/** Maximum number of refused names that are logged, for each header. */
const MAX_NAMES = 100;
/** Maximum characters of a logged name. DNS does not allow longer host names. */
const MAX_NAME_LENGTH = 253;

/** Node's own limit, used if the application does not set a limit. */
const NODE_MAX_HEADERS = 1000;

/** Whether a `Host` has only characters of host names, addresses and ports. Parsers of URLs take more, such as quotes. */
export const isHost = (host: unknown): host is string =>
  typeof host === 'string' && /^[\w.:[\]-]+$/.test(host);

/** Checks the HTTP level of a request: its host, origin, method, headers and content type. */
export class RequestCheck {
  /** Names whose refusal has been logged. */
  private readonly refused = { allowedHosts: new Set<string>(), allowedOrigins: new Set<string>() };
  /** The last accepted `Host`, because most requests repeat it. */
  private lastHost?: string;
  private hasWarnedOfProxy = false;

  constructor(
    private readonly http: Pick<ResolvedHttpOptions, 'allowedHosts' | 'allowedOrigins'>,
    private readonly warn: (message: string) => void,
  ) {}

  /** The refusal of a request, or undefined if the request is valid. */
  refusal(incoming: Pick<Incoming, 'rawRequest' | 'body' | 'caller'>): TransportError | undefined {
    const { rawRequest, body } = incoming;
    if (mayLackHeaders(rawRequest))
      return refused(431, 'Request Header Fields Too Large: it has too many headers');
    const { headers, method = '' } = rawRequest;
    const from = this.refusalOfHost(rawRequest) ?? this.refusalOfOrigin(headers.origin);
    if (from) return from;
    if (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined)
      this.warnOfProxy(incoming);
    if (!METHODS.includes(method)) {
      return new TransportError(405, -32000, 'Method Not Allowed', {
        headers: { allow: METHODS.join(', ') },
      });
    }
    if (method !== 'POST') return undefined;
    if (!isJsonContentType(headers['content-type'])) {
      return refused(415, 'Unsupported Media Type: Content-Type must be application/json');
    }
    return body === undefined || body.ok ? undefined : body.error;
  }

  private refusalOfHost(request: IncomingMessage): TransportError | undefined {
    const { allowedHosts } = this.http;
    const host = request.headers.host ?? (request.headers[':authority'] as string | undefined);
    // Node keeps the first header, but a proxy may have read another.
    if (isRepeated(request, 'host')) return refused(400, 'Bad Request: there is more than one Host header');
    if (host !== undefined && host === this.lastHost) return undefined;
    const known = validateHostHeader(host, allowedHosts === '*' ? [] : allowedHosts);
    if ((!known.ok && known.errorCode !== 'invalid_host') || !isHost(host)) {
      return refused(400, 'Bad Request: the Host header is missing or malformed');
    }
    if (!known.ok && allowedHosts !== '*') {
      this.warnOfRefusal('Host', known.hostname, 'allowedHosts');
      return refused(403, 'Forbidden: the Host header names a host that this server does not serve');
    }
    this.lastHost = host;
    return undefined;
  }

  private refusalOfOrigin(origin: string | undefined): TransportError | undefined {
    const { allowedOrigins } = this.http;
    if (origin === undefined || allowedOrigins === '*') return undefined;
    const from = validateOriginHeader(origin, allowedOrigins);
    if (from.ok) return undefined;
    this.warnOfRefusal('Origin', from.hostname, 'allowedOrigins');
    return refused(403, 'Forbidden: requests from this Origin are not accepted');
  }

  /** Once: anonymous callers behind a proxy that is not trusted have one address. */
  private warnOfProxy({ rawRequest, caller }: Pick<Incoming, 'rawRequest' | 'caller'>): void {
    const { headers, socket } = rawRequest;
    const { remoteAddress } = socket;
    const isOf = (address: string | undefined) => limitKeyOf(undefined, {}, address) === caller;
    // A client on the same machine as a trusted proxy has the proxy's address.
    const client = String(headers['x-forwarded-for']).split(',').at(-1)!.trim();
    if (this.hasWarnedOfProxy || !isOf(remoteAddress) || isOf(client)) return;
    this.hasWarnedOfProxy = true;
    this.warn(
      `The HTTP adapter does not trust the forwarding headers of a request from ${remoteAddress}. Anonymous callers behind this proxy share the limits of one caller. If the proxy is yours, set "trust proxy" of Express or "trustProxy" of Fastify`,
    );
  }

  /** Warns once for each name, so that operators see it, but callers cannot flood the log with invented names. */
  private warnOfRefusal(header: string, name: string | undefined, option: keyof typeof this.refused): void {
    const names = this.refused[option];
    const shown = name === undefined ? undefined : clipped(name, MAX_NAME_LENGTH);
    if (shown === undefined || names.has(shown) || names.size >= MAX_NAMES) return;
    names.add(shown);
    this.warn(
      `A request was refused because its ${header} header names ${JSON.stringify(shown)}; if your clients use this name, add it to "http.${option}"`,
    );
  }
}

const refused = (status: number, message: string): TransportError =>
  new TransportError(status, -32000, message);

/**
 * Whether Node may have dropped headers. Node drops headers past a limit without an error, but a proxy may have read
 * them.
 */
function mayLackHeaders({ rawHeaders, socket }: IncomingMessage): boolean {
  const { server } = socket as { server?: { maxHeadersCount?: number | null } };
  const limit = server?.maxHeadersCount ?? NODE_MAX_HEADERS;
  return limit > 0 && rawHeaders.length >= 2 * limit;
}
