import {
  isInitializeRequest,
  parseJSONRPCMessage,
  SUPPORTED_PROTOCOL_VERSIONS,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
} from '@modelcontextprotocol/server';
import { TransportError } from '../http/transport-error.js';

/** Maximum messages in a batch. */
const MAX_BATCH = 100;

/** Maximum characters of a request's id. The session keeps the id until the request is answered. */
const MAX_ID_LENGTH = 1024;

/** A cheap check: the body is already validated, and the SDK's own guard would validate it again. */
export const isRequest = (message: JSONRPCMessage): message is JSONRPCRequest =>
  'method' in message && 'id' in message;

/** The JSON of a POST, and the request in it, if it is one request. */
export interface Posted {
  readonly json: unknown;
  readonly request?: JSONRPCRequest;
}

const isInitialize = (message: JSONRPCMessage): boolean =>
  isRequest(message) && message.method === 'initialize' && isInitializeRequest(message);

/**
 * Reads the messages in the body of a POST.
 * @param pending the requests that are not answered yet, by id
 * @throws TransportError if the body is malformed, or the session cannot serve it
 */
export function messagesIn(
  { json, request }: Posted,
  { isInitialized, pending }: { isInitialized: boolean; pending: ReadonlyMap<RequestId, unknown> },
): readonly JSONRPCMessage[] {
  const messages = request ? [request] : parse(json);
  const ids = new Set<RequestId>();
  for (const message of messages) {
    if (!isRequest(message)) continue;
    if (String(message.id).length > MAX_ID_LENGTH) {
      throw invalid(`Invalid Request: an id has at most ${MAX_ID_LENGTH} characters`);
    }
    if (pending.has(message.id) || ids.has(message.id)) {
      throw new TransportError(400, -32600, 'Invalid Request: the id is in use', { id: message.id });
    }
    ids.add(message.id);
  }
  if (isInitialized && messages.some(isInitialize)) {
    throw invalid('Invalid Request: Server already initialized');
  }
  return messages;
}

/** @throws TransportError if the client does not accept an event stream, or JSON if it may get that */
export function assertAccepts(accept = '', mayGetJson = false): void {
  if (accept.includes('text/event-stream') && (!mayGetJson || accept.includes('application/json'))) return;
  const types = mayGetJson ? 'both application/json and text/event-stream' : 'text/event-stream';
  throw refused(406, `Not Acceptable: Client must accept ${types}`);
}

/** @throws TransportError if the SDK does not support the revision in the header */
export function assertVersion(version: string | string[] | undefined): void {
  if (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(String(version))) return;
  const supported = SUPPORTED_PROTOCOL_VERSIONS.join(', ');
  throw refused(
    400,
    `Bad Request: Unsupported protocol version: ${String(version)} (supported versions: ${supported})`,
  );
}

function parse(body: unknown): readonly JSONRPCMessage[] {
  const list = Array.isArray(body) ? body : [body];
  if (list.length > MAX_BATCH) throw invalid(`Invalid Request: Batch must not exceed ${MAX_BATCH} messages`);
  try {
    return list.map(parseJSONRPCMessage);
  } catch {
    throw new TransportError(400, -32700, 'Parse error: Invalid JSON-RPC message');
  }
}

const refused = (status: number, message: string): TransportError =>
  new TransportError(status, -32000, message);
const invalid = (message: string): TransportError => new TransportError(400, -32600, message);
