import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import { ForwardedAnswers } from './forwarded-answers.js';
import type { PeerMessage, Peers } from './peers.js';
import { QuestionIds } from './question-ids.js';
import { clipped } from '../../util/clipped.js';

/** The most characters of an id and of a reason that nodes tell each other. */
const MAX_REASON = 200;

/** Lets answers and cancellations reach the node that they are for, since a client may send them to any node. */
export class OtherNodes {
  private readonly ids: QuestionIds;
  private readonly answers: ForwardedAnswers;

  constructor(private readonly peers: Peers) {
    this.ids = new QuestionIds(peers.node);
    this.answers = new ForwardedAnswers(peers);
  }

  /** Whether an answer is on its way to another node. */
  get isForwarding(): boolean {
    return this.answers.size > 0;
  }

  /** A message of this node's server, as the client gets it. */
  outgoing(message: JSONRPCMessage): JSONRPCMessage {
    return this.ids.outgoing(message);
  }

  /** @returns the client's message, as this node's server expects it; undefined if another node gets it */
  incoming(message: JSONRPCMessage): JSONRPCMessage | undefined {
    const { node, message: own } = this.ids.incoming(message);
    if (node === undefined) return own;
    this.answers.send(node, own);
    return undefined;
  }

  /** Another node may run the request. */
  cancel(requestId: RequestId, reason: unknown): void {
    if (String(requestId).length > MAX_REASON) return;
    const text = typeof reason === 'string' ? clipped(reason, MAX_REASON) : undefined;
    this.peers.tell({ kind: 'cancel', requestId, reason: text });
  }

  /** Confirms an answer that another node got. @returns whether it is for this node */
  confirm({ node, message }: PeerMessage & { readonly kind: 'answer' }): boolean {
    if (node !== this.peers.node) return false;
    this.peers.tell({ kind: 'confirmed', node, id: (message as { readonly id?: unknown }).id });
    return true;
  }

  confirmed(node: string, id: unknown): void {
    this.answers.confirmed(node, id);
  }

  /** Sends the answers again that are not confirmed. */
  repeat(): void {
    this.answers.repeat();
  }
}
