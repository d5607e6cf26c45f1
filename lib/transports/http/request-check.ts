import type { IncomingMessage } from 'node:http';
import { isJsonContentType, validateHostHeader, validateOriginHeader } from '@modelcontextprotocol/server';
import type { ResolvedHttpOptions } from '../../server/server-options.js';
import { isRepeated } from '../../headers/header-check.js';
import { limitKeyOf } from '../../protocol/caller-limit.js';
import { clipped } from '../../util/clipped.js';
import type { Incoming } from './incoming.js';
import { TransportError } from './transport-error.js';

const METHODS = ['POST', 'GET', 'DELETE'];

/** The most refused names of one kind that are logged. */
const MAX_NAMES = 100;
/** The most characters of one that are: a host name in DNS has no more. */
const MAX_NAME_LENGTH = 253;

/** Node's own limit, if the application sets none. */
const NODE_MAX_HEADERS = 1000;

/** Looks at a request as such: where it goes, where it comes from, how it comes. */
export class RequestCheck {
  /** Names whose refusal has been logged. */
  private readonly refused = { allowedHosts: new Set<string>(), allowedOrigins: new Set<string>() };
  /** The `Host` that was accepted last: most requests repeat it. */
  private lastHost?: string;
  private hasWarnedOfProxy = false;

  constructor(
    private readonly http: Pick<ResolvedHttpOptions, 'allowedHosts' | 'allowedOrigins'>,
    private readonly warn: (message: string) => void,
  ) {}

  /** What is wrong with a request, if anything is. */
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
    // Node keeps the first; whoever routed the request may have read another.
    if (isRepeated(request, 'host')) return refused(400, 'Bad Request: there is more than one Host header');
    if (host !== undefined && host === this.lastHost) return undefined;
    const known = validateHostHeader(host, allowedHosts === '*' ? [] : allowedHosts);
    if ((!known.ok && known.errorCode !== 'invalid_host') || /[\s/?#@\\]/.test(host ?? '')) {
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
    // A client beside a trusted proxy has the same address.
    const client = String(headers['x-forwarded-for']).split(',').at(-1)!.trim();
    if (this.hasWarnedOfProxy || !isOf(remoteAddress) || isOf(client)) return;
    this.hasWarnedOfProxy = true;
    this.warn(
      `A request from ${remoteAddress} has forwarding headers, which the HTTP adapter does not trust: all anonymous callers behind this proxy share its "maxPerAddress" limits; if the proxy is yours, set "trust proxy" of Express or "trustProxy" of Fastify`,
    );
  }

  /** Once for each name: an operator has to learn of it, and callers can make names up. */
  private warnOfRefusal(header: string, name: string | undefined, option: keyof typeof this.refused): void {
    const names = this.refused[option];
    const shown = name === undefined ? undefined : clipped(name, MAX_NAME_LENGTH);
    if (shown === undefined || names.has(shown) || names.size >= MAX_NAMES) return;
    names.add(shown);
    this.warn(
      `A request was refused, for its ${header} header names ${JSON.stringify(shown)}; if your clients use this name, add it to "http.${option}"`,
    );
  }
}

const refused = (status: number, message: string): TransportError =>
  new TransportError(status, -32000, message);

/**
 * Whether Node may have left out headers: beyond a limit it does, and says nothing. Whoever routed the request may have read
 * what is not there.
 */
function mayLackHeaders({ rawHeaders, socket }: IncomingMessage): boolean {
  const { server } = socket as { server?: { maxHeadersCount?: number | null } };
  const limit = server?.maxHeadersCount ?? NODE_MAX_HEADERS;
  return limit > 0 && rawHeaders.length >= 2 * limit;
}
