import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { Peers } from './peers.js';

/** Maximum attempts to send an answer, which take about ten seconds. */
const MAX_TRIES = 5;

/** Maximum unconfirmed answers of a session. */
const MAX_WAITING = 16;

/** Maximum characters of an answer between nodes. */
const MAX_LENGTH = 1_048_576;

interface Forwarded {
  readonly node: string;
  readonly message: JSONRPCMessage;
  tries: number;
}

/**
 * Answers to requests of other nodes. They are sent again until they are confirmed, because messages between
 * nodes may be lost.
 */
export class ForwardedAnswers {
  private readonly waiting = new Map<string, Forwarded>();

  constructor(private readonly peers: Peers) {}

  get size(): number {
    return this.waiting.size;
  }

  /**
   * Sends an answer to its node. It drops answers to unknown nodes, and answers past the bounds.
   * @returns when the answer has left this node
   */
  async send(node: string, message: JSONRPCMessage & { readonly id?: unknown }): Promise<void> {
    if (this.waiting.size >= MAX_WAITING || !this.peers.knows(node)) return;
    if (JSON.stringify(message).length > MAX_LENGTH) return;
    this.waiting.set(keyOf(node, message.id), { node, message, tries: 1 });
    await this.tell(node, message);
  }

  confirmed(node: string, id: unknown): void {
    this.waiting.delete(keyOf(node, id));
  }

  /** Sends unconfirmed answers again. */
  repeat(): void {
    for (const [key, { node, message, tries }] of this.waiting) {
      if (tries === MAX_TRIES) this.waiting.delete(key);
      else {
        this.waiting.set(key, { node, message, tries: tries + 1 });
        void this.tell(node, message);
      }
    }
  }

  private tell(node: string, message: JSONRPCMessage): Promise<void> {
    return this.peers.tell({ kind: 'answer', by: this.peers.node, message }, node);
  }
}

const keyOf = (node: string, id: unknown): string => `${node}.${String(id)}`;
