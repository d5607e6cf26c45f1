import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
} from '@modelcontextprotocol/server';
import { UnavailableException } from '../../exceptions/unavailable.exception.js';
import { clipped } from '../../util/clipped.js';
import type { PeerMessage, Peers } from './peers.js';

const NODE_AND_ID = /^([\da-f]{8})\.(\d{1,15})$/;

/** Maximum characters of an id and of a reason between nodes. */
const MAX_REASON = 200;

/** Maximum attempts to send an answer, which take about ten seconds. */
const MAX_TRIES = 5;

/** Maximum unconfirmed answers of a session, and characters of all of them. */
const MAX_WAITING = 16;
const MAX_LENGTH = 16_777_216;

interface ForwardedAnswer {
  readonly node: string;
  readonly message: JSONRPCMessage;
  readonly length: number;
  tries: number;
}

/**
 * Forwards answers and cancellations to the right node, because a client may send them to any node. The ids of requests
 * to the client name their node. Answers are sent again until they are confirmed, because messages between nodes may be
 * lost.
 */
export class OtherNodes {
  private readonly waiting = new Map<string, ForwardedAnswer>();

  constructor(private readonly peers: Peers) {}

  /** Whether an answer to another node is not confirmed yet. */
  get isForwarding(): boolean {
    return this.waiting.size > 0;
  }

  /** Converts a message of this node's server for the client. */
  outgoing(message: JSONRPCMessage): JSONRPCMessage {
    if (isJSONRPCRequest(message)) return { ...message, id: this.named(message.id) };
    if (!isJSONRPCNotification(message) || message.method !== 'notifications/cancelled') return message;
    const { requestId } = message.params as { requestId: RequestId };
    return { ...message, params: { ...message.params, requestId: this.named(requestId) } };
  }

  /** @returns the client's message for this node's server, or when it has left for another node */
  incoming(message: JSONRPCMessage): { readonly own: JSONRPCMessage } | { readonly left: Promise<void> } {
    if (!isJSONRPCResultResponse(message) && !isJSONRPCErrorResponse(message)) return { own: message };
    const [, node, id] = NODE_AND_ID.exec(String(message.id)) ?? [];
    if (id === undefined) return { own: message };
    const own = { ...message, id: Number(id) };
    return node === this.peers.node ? { own } : { left: this.forward(node, own) };
  }

  /** Notifies the other nodes, because one of them may run the request. */
  cancel(requestId: RequestId, reason: unknown): void {
    if (String(requestId).length > MAX_REASON) return;
    const text = typeof reason === 'string' ? clipped(reason, MAX_REASON) : undefined;
    void this.peers.tell({ kind: 'cancel', requestId, reason: text });
  }

  confirm({ by, message }: PeerMessage & { readonly kind: 'answer' }): void {
    const { id } = message as { readonly id?: unknown };
    void this.peers.tell({ kind: 'confirmed', node: this.peers.node, id }, by);
  }

  confirmed(node: string, id: unknown): void {
    this.waiting.delete(keyOf(node, id));
  }

  repeat(): void {
    for (const [key, answer] of this.waiting) {
      if (answer.tries === MAX_TRIES) this.waiting.delete(key);
      else {
        answer.tries += 1;
        void this.send(answer);
      }
    }
  }

  /** Drops answers to nodes that have ended. @throws UnavailableException past the bounds */
  private async forward(node: string, message: JSONRPCMessage & { readonly id: number }): Promise<void> {
    if (!this.peers.knows(node) && !(await this.peers.isAlive(node))) return;
    const { length } = JSON.stringify(message);
    const total = [...this.waiting.values()].reduce((sum, answer) => sum + answer.length, length);
    if (this.waiting.size >= MAX_WAITING || total > MAX_LENGTH) throw new UnavailableException(TOO_MANY);
    const answer = { node, message, length, tries: 1 };
    this.waiting.set(keyOf(node, message.id), answer);
    await this.send(answer);
  }

  private send({ node, message }: ForwardedAnswer): Promise<void> {
    return this.peers.tell({ kind: 'answer', by: this.peers.node, message }, node);
  }

  private named(id: RequestId): string {
    return `${this.peers.node}.${id}`;
  }
}

const TOO_MANY = new Error('Too many answers for other nodes are not confirmed');

const keyOf = (node: string, id: unknown): string => `${node}.${String(id)}`;
