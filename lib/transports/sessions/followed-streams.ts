import type { RequestId } from '@modelcontextprotocol/server';
import { McpErrorCode } from '../../exceptions/mcp.exception.js';
import { isRecord } from '../../util/is-record.js';
import type { PeerMessage, Peers } from './peers.js';
import type { SessionStream, StreamSettings } from './session-stream.js';

/** How often a node must be missing before it counts as dead. It may have lost the store for a moment. */
const MISSES = 2;

interface Followed {
  readonly stream: SessionStream;
  /** The node that runs the calls. */
  readonly node: string;
  readonly requests: readonly RequestId[];
  misses: number;
}

/** Streams that a client reads on this node while their calls run on other nodes. */
export class FollowedStreams {
  private readonly followed = new Map<string, Followed>();
  private isChecking = false;

  constructor(
    private readonly settings: StreamSettings,
    private readonly peers: Peers,
  ) {}

  has(name: string): boolean {
    return this.followed.has(name);
  }

  delete(name: string): void {
    this.followed.delete(name);
  }

  /** @param requests the requests that the stream answers */
  add(stream: SessionStream, node: string, requests: readonly RequestId[]): void {
    this.followed.set(stream.name, { stream, node, requests, misses: 0 });
  }

  hear(stream: SessionStream, message: Extract<PeerMessage, { readonly kind: 'event' | 'over' }>): void {
    if (message.kind === 'over') return this.over(stream);
    const { sequence, json } = message;
    if (json === undefined || sequence !== stream.latest + 1) stream.refresh(sequence);
    else stream.accept({ stream: stream.name, sequence, json });
  }

  /** Catches up with the streams, and ends streams of dead nodes. @throws UnavailableException */
  async check(): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    try {
      for (const one of [...this.followed.values()]) await this.checkOne(one);
    } finally {
      this.isChecking = false;
    }
  }

  private async checkOne(one: Followed): Promise<void> {
    const { stream, node } = one;
    stream.refresh();
    one.misses = (await this.peers.isAlive(node)) ? 0 : one.misses + 1;
    if (one.misses >= MISSES) await this.fail(one);
    // The node may have ended the stream with a message that was lost.
    else if (!(await this.isOpen(stream.name))) this.over(stream);
  }

  /** Answers the open requests of a dead node with an error. */
  private async fail({ stream, requests }: Followed): Promise<void> {
    const { store, session } = this.settings;
    const events = await store.after(session, stream.name, 0);
    const answered = new Set(events.map(({ json }) => answeredBy(json)));
    stream.refresh(events.at(-1)?.sequence);
    for (const id of requests) {
      if (!answered.has(id)) stream.send(JSON.stringify({ jsonrpc: '2.0', id, error: GONE }));
    }
    await store.append(session, { stream: stream.name, events: [], isOver: true });
    this.over(stream);
  }

  private async isOpen(stream: string): Promise<boolean> {
    const { store, session } = this.settings;
    return (await store.openStreams(session)).has(stream);
  }

  private over(stream: SessionStream): void {
    this.followed.delete(stream.name);
    stream.refresh();
    stream.end();
  }
}

const GONE = {
  code: McpErrorCode.Refused,
  message: 'The server stopped before it answered; try again',
};

/** The request that a message answers. */
function answeredBy(json: string): unknown {
  const message: unknown = JSON.parse(json);
  return isRecord(message) && !('method' in message) ? message['id'] : undefined;
}
