import { createHash } from 'node:crypto';
import type { TrafficPoint, TrafficRequest } from '../protocol/traffic-listener.js';
import { ATTR } from './conventions.js';

export type Attributes = Record<string, string | number | boolean>;

interface NodeRequest {
  readonly httpVersion?: string;
  readonly ip?: string;
  readonly raw?: NodeRequest;
  readonly socket?: { readonly remoteAddress?: string; readonly remotePort?: number };
}

const PIPE: Attributes = { [ATTR.transport]: 'pipe' };
const HTTP: Attributes = { [ATTR.transport]: 'tcp', [ATTR.protocolName]: 'http' };

export function networkOf(
  { http, sessionId }: Pick<TrafficRequest, 'http' | 'sessionId'>,
  { url }: TrafficPoint,
): Attributes {
  if (!http) return url === undefined && sessionId === undefined ? PIPE : HTTP;
  const version = rawOf(http.request).httpVersion?.replace(/\.0$/, '');
  return version === undefined ? HTTP : { ...HTTP, [ATTR.httpVersion]: version };
}

/** Address and port of the client. */
export function clientOf({ http }: TrafficRequest): Attributes {
  if (!http) return {};
  const { remoteAddress, remotePort } = rawOf(http.request).socket ?? {};
  // With a trusted proxy, the address is the client's, but the port is the proxy's.
  const address = (http.request as NodeRequest).ip ?? remoteAddress;
  return {
    ...(address !== undefined && { [ATTR.clientAddress]: address }),
    ...(remotePort !== undefined && address === remoteAddress && { [ATTR.clientPort]: remotePort }),
  };
}

/** Address and port of the server that a connection leads to. */
export function serverOf({ url }: TrafficPoint): Attributes {
  if (url === undefined || !URL.canParse(url)) return {};
  const { hostname, port, protocol } = new URL(url);
  return {
    // The brackets of an IPv6 address belong to the URL.
    [ATTR.serverAddress]: hostname.replace(/^\[(.*)\]$/, '$1'),
    [ATTR.serverPort]: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  };
}

const rawOf = (request: object): NodeRequest => (request as NodeRequest).raw ?? request;

/** The id of an anonymous session is its credential, so only a hash is shown. */
export const hashOf = (sessionId: string): string =>
  createHash('sha256').update(sessionId).digest('hex').slice(0, 32);
