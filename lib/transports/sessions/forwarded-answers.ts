import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { UnavailableException } from '../../exceptions/unavailable.exception.js';
import type { Peers } from './peers.js';

/** Maximum attempts to send an answer, which take about ten seconds. */
const MAX_TRIES = 5;

/** Maximum unconfirmed answers of a session. */
const MAX_WAITING = 16;

/** Maximum characters of all unconfirmed answers of a session. */
const MAX_LENGTH = 16_777_216;

interface Forwarded {
  readonly node: string;
  readonly message: JSONRPCMessage;
  readonly length: number;
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
   * Sends an answer to its node. It drops answers to nodes that have ended.
   * @returns when the answer has left this node
   * @throws UnavailableException past the bounds
   */
  async send(node: string, message: JSONRPCMessage & { readonly id?: unknown }): Promise<void> {
    if (!this.peers.knows(node) && !(await this.peers.isAlive(node))) return;
    const { length } = JSON.stringify(message);
    const total = [...this.waiting.values()].reduce((sum, answer) => sum + answer.length, length);
    if (this.waiting.size >= MAX_WAITING || total > MAX_LENGTH) throw new UnavailableException(TOO_MANY);
    this.waiting.set(keyOf(node, message.id), { node, message, length, tries: 1 });
    await this.tell(node, message);
  }

  confirmed(node: string, id: unknown): void {
    this.waiting.delete(keyOf(node, id));
  }

  /** Sends unconfirmed answers again. */
  repeat(): void {
    for (const [key, answer] of this.waiting) {
      if (answer.tries === MAX_TRIES) this.waiting.delete(key);
      else {
        answer.tries += 1;
        void this.tell(answer.node, answer.message);
      }
    }
  }

  private tell(node: string, message: JSONRPCMessage): Promise<void> {
    return this.peers.tell({ kind: 'answer', by: this.peers.node, message }, node);
  }
}

const TOO_MANY = new Error('Too many answers for other nodes are not confirmed');

const keyOf = (node: string, id: unknown): string => `${node}.${String(id)}`;
