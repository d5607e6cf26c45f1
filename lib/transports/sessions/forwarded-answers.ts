import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { Peers } from './peers.js';

/** How often an answer is sent in vain: for about ten seconds. */
const MAX_TRIES = 5;

/** The most answers of a session that wait for a node to confirm them. */
const MAX_WAITING = 16;

/** The most characters of an answer that nodes send each other. */
const MAX_LENGTH = 1_048_576;

interface Forwarded {
  readonly node: string;
  readonly message: JSONRPCMessage;
  tries: number;
}

/** Answers to what other nodes ask, sent until those nodes confirm them: a message between nodes may be lost. */
export class ForwardedAnswers {
  private readonly waiting = new Map<string, Forwarded>();

  constructor(private readonly peers: Peers) {}

  get size(): number {
    return this.waiting.size;
  }

  /** Nobody waits for an answer to a node that does not run, and no node has so many questions. */
  send(node: string, message: JSONRPCMessage & { readonly id?: unknown }): void {
    if (this.waiting.size >= MAX_WAITING || !this.peers.knows(node)) return;
    if (JSON.stringify(message).length > MAX_LENGTH) return;
    this.waiting.set(keyOf(node, message.id), { node, message, tries: 1 });
    this.peers.tell({ kind: 'answer', node, message });
  }

  confirmed(node: string, id: unknown): void {
    this.waiting.delete(keyOf(node, id));
  }

  /** Sends again what is not confirmed. */
  repeat(): void {
    for (const [key, { node, message, tries }] of this.waiting) {
      if (tries === MAX_TRIES) this.waiting.delete(key);
      else {
        this.waiting.set(key, { node, message, tries: tries + 1 });
        this.peers.tell({ kind: 'answer', node, message });
      }
    }
  }
}

const keyOf = (node: string, id: unknown): string => `${node}.${String(id)}`;
