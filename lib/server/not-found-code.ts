import { isJSONRPCErrorResponse, ResourceNotFoundError, type Transport } from '@modelcontextprotocol/server';

/** What an error says of a resource that is not there, to know it again on its way out. */
const NOT_FOUND = new WeakSet<object>();

/** The code of the 2025 revisions (2025-11-25: server/resources, error handling). */
const CODE = -32002;

/** Remembers an error for a 2025-era client, if it says that a resource is not there. */
export function noteNotFound(error: object): void {
  if (error instanceof ResourceNotFoundError) NOT_FOUND.add(error.data as object);
}

/** The SDK sends -32602 of 2026-07-28 to every client, and has no hook for another code of the error. */
export function restoreNotFoundCode(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!isJSONRPCErrorResponse(message)) return send(message, options);
    const { error } = message;
    const isNoted = typeof error.data === 'object' && error.data !== null && NOT_FOUND.has(error.data);
    return send(isNoted ? { ...message, error: { ...error, code: CODE } } : message, options);
  };
}
