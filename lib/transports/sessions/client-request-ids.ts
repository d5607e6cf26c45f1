import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/server';

const NODE_AND_ID = /^([\da-f]{8})\.(\d{1,15})$/;

/**
 * Converts the ids of a node's requests to the client. The id names the node, because the client may send its answer to
 * another node.
 */
export class ClientRequestIds {
  constructor(private readonly node: string) {}

  /** Converts a message of the SDK's server for the client. */
  outgoing(message: JSONRPCMessage): JSONRPCMessage {
    if (isJSONRPCRequest(message)) return { ...message, id: this.named(message.id) };
    if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return message;
    const { requestId } = message.params as { requestId: RequestId };
    return { ...message, params: { ...message.params, requestId: this.named(requestId) } };
  }

  /**
   * Converts a message of the client for the SDK's server of the node that sent the request.
   * @returns the node, if it is another node
   */
  incoming(message: JSONRPCMessage): { node?: string; message: JSONRPCMessage } {
    if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) return { message };
    const [, node, id] = NODE_AND_ID.exec(String(message.id)) ?? [];
    if (id === undefined) return { message };
    const own = { ...message, id: Number(id) };
    return node === this.node ? { message: own } : { node, message: own };
  }

  private named(id: RequestId): string {
    return `${this.node}.${id}`;
  }
}
