import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import { ForwardedAnswers } from './forwarded-answers.js';
import type { PeerMessage, Peers } from './peers.js';
import { ClientRequestIds } from './client-request-ids.js';
import { clipped } from '../../util/clipped.js';

/** Maximum characters of an id and of a reason between nodes. */
const MAX_REASON = 200;

/** Forwards answers and cancellations to the right node, because a client may send them to any node. */
export class OtherNodes {
  private readonly ids: ClientRequestIds;
  private readonly answers: ForwardedAnswers;

  constructor(private readonly peers: Peers) {
    this.ids = new ClientRequestIds(peers.node);
    this.answers = new ForwardedAnswers(peers);
  }

  /** Whether an answer to another node is not confirmed yet. */
  get isForwarding(): boolean {
    return this.answers.size > 0;
  }

  /** Converts a message of this node's server for the client. */
  outgoing(message: JSONRPCMessage): JSONRPCMessage {
    return this.ids.outgoing(message);
  }

  /** @returns the client's message for this node's server, or when it has left for another node */
  incoming(message: JSONRPCMessage): { readonly own: JSONRPCMessage } | { readonly left: Promise<void> } {
    const { node, message: own } = this.ids.incoming(message);
    return node === undefined ? { own } : { left: this.answers.send(node, own) };
  }

  /** Notifies the other nodes, because one of them may run the request. */
  cancel(requestId: RequestId, reason: unknown): void {
    if (String(requestId).length > MAX_REASON) return;
    const text = typeof reason === 'string' ? clipped(reason, MAX_REASON) : undefined;
    void this.peers.tellAll({ kind: 'cancel', requestId, reason: text });
  }

  /** Confirms an answer from another node. */
  confirm({ by, message }: PeerMessage & { readonly kind: 'answer' }): void {
    const { id } = message as { readonly id?: unknown };
    void this.peers.tell({ kind: 'confirmed', node: this.peers.node, id }, by);
  }

  confirmed(node: string, id: unknown): void {
    this.answers.confirmed(node, id);
  }

  repeat(): void {
    this.answers.repeat();
  }
}
