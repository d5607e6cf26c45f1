import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/server';

const NODE_AND_ID = /^([\da-f]{8})\.(\d{1,15})$/;

/** Ids of what a node asks a client: they name the node, because the client may answer another one. */
export class QuestionIds {
  constructor(private readonly node: string) {}

  /** A message of the SDK's server, as the client gets it. */
  outgoing(message: JSONRPCMessage): JSONRPCMessage {
    if (isJSONRPCRequest(message)) return { ...message, id: this.named(message.id) };
    if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return message;
    const { requestId } = message.params as { requestId: RequestId };
    return { ...message, params: { ...message.params, requestId: this.named(requestId) } };
  }

  /**
   * A message of the client, as the SDK's server of the node that asked expects it.
   * @returns the node, if it is another one
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
