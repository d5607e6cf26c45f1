import type { Server } from 'node:http';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { LEGACY_REVISIONS, REVISION } from '../../server/wire-codec.js';
import type { McpServers } from '../../module/mcp-servers.js';
import { isRecord } from '../../util/is-record.js';
import { ApiFailure } from '../api-failure.js';
import type { Caller } from '../api.js';
import type { ApiRequest } from '../explorer-site.js';
import type { Recorder } from '../record/recorder.js';
import type { Target } from './in-process-client.js';

/** @throws ApiFailure for a server that is unknown */
export function serverIn({ body }: ApiRequest, servers: McpServers): McpServerInstance {
  const { server: name } = body;
  const server = typeof name === 'string' ? servers.get(name) : undefined;
  if (server) return server;
  throw new ApiFailure(404, `The server does not exist; servers are ${servers.names.join(', ')}`);
}

/** The revisions that a server serves, the newest first. */
export const revisionsOf = ({ options }: McpServerInstance): string[] =>
  options.legacy === 'reject' ? [REVISION] : [REVISION, ...LEGACY_REVISIONS];

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= 100 && value.every(one => typeof one === 'string');

/** @throws ApiFailure for what is not a caller */
export function callerIn({ body: { caller } }: ApiRequest): Caller {
  if (isRecord(caller)) {
    const { kind, token, scopes, roles } = caller;
    if (kind === 'anonymous') return { kind };
    // As RFC 6750 has tokens: anything else could end the header.
    if (kind === 'token' && typeof token === 'string' && /^[\w.~+/=-]+$/.test(token)) return { kind, token };
    if (kind === 'synthetic' && isTexts(scopes) && isTexts(roles)) return { kind, scopes, roles };
  }
  throw new ApiFailure(
    400,
    '"caller" is { kind: "anonymous" }, { kind: "token", token }, or { kind: "synthetic", scopes, roles }',
  );
}

/** @throws ApiFailure for a revision that the server does not serve */
export function revisionIn({ body: { revision = REVISION } }: ApiRequest, server: McpServerInstance): string {
  const revisions = revisionsOf(server);
  if (typeof revision === 'string' && revisions.includes(revision)) return revision;
  throw new ApiFailure(400, `The server serves the revisions ${revisions.join(', ')}`);
}

/** The end of a path that chooses a part of a server. @throws ApiFailure for a part that does not exist */
export function partIn({ body: { part = '' } }: ApiRequest, { extensions }: McpServerInstance): string {
  if (part === '') return part;
  if (typeof part === 'string' && extensions.views?.suffixes().includes(part)) return part;
  throw new ApiFailure(404, 'The server has no such part');
}

/**
 * The endpoint as a caller reaches it.
 * @param part the end of a path that chooses a part of the server. Default: the whole server
 * @throws ApiFailure for a server without an endpoint
 */
export function targetOf(
  { paths, options }: McpServerInstance,
  caller: Exclude<Caller, { kind: 'synthetic' }>,
  { http, address, signal }: Pick<ApiRequest, 'http' | 'address' | 'signal'>,
  httpServer: Server,
  recorder: Recorder,
  part = '',
): Target {
  const [path] = options.http ? paths : [];
  if (path === undefined) throw new ApiFailure(409, `The server "${options.name}" has no HTTP endpoint`);
  if (/[:*{]/.test(path)) {
    throw new ApiFailure(501, `The page cannot call "${path}": the path has parameters`);
  }
  return {
    server: httpServer,
    path: path + part,
    address,
    signal,
    headers: {
      host: http.headers.host ?? 'localhost',
      ...(caller.kind === 'token' && { authorization: `Bearer ${caller.token}` }),
      ...recorder.headers,
    },
  };
}
