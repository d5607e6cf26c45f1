import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import type { StateChange } from '../../server/connection-server.js';

/** A message between nodes about a session. */
export type PeerMessage =
  /** An anonymous session now has an owner. */
  | { readonly kind: 'bound'; readonly caller: string }
  | { readonly kind: 'closed' }
  | { readonly kind: 'state'; readonly change: StateChange }
  /** The client has cancelled a request that may run on another node. */
  | { readonly kind: 'cancel'; readonly requestId: RequestId; readonly reason?: unknown }
  /** The client has answered a request of a node. */
  | { readonly kind: 'answer'; readonly node: string; readonly message: JSONRPCMessage }
  /** A node has received the answer to its request. */
  | { readonly kind: 'confirmed'; readonly node: string; readonly id: unknown }
  /** Messages are waiting for a stream. */
  | { readonly kind: 'waiting' }
  /** A stream has events up to this number. `json` holds the event with this number. */
  | { readonly kind: 'event'; readonly stream: string; readonly sequence: number; readonly json?: string }
  /** The client now reads a stream on the sending node. */
  | { readonly kind: 'taken'; readonly stream: string }
  /** A client has left a call: does it have a GET stream on another node? */
  | { readonly kind: 'sought' }
  /** The client has a GET stream on the sending node. */
  | { readonly kind: 'attended' }
  | { readonly kind: 'over'; readonly stream: string };

/** The other nodes, from the view of one session. */
export interface Peers {
  readonly node: string;
  /** Resolves when the message has left this node, or cannot leave it. Never rejects. */
  tell(message: PeerMessage): Promise<void>;
  /** Returns a number that is unique among this node's streams. */
  nextStream(): number;
  /** Whether the store has failed recently, so that messages of other nodes may be missing. */
  isCut(): boolean;
  /** Whether a node has sent a message recently, or may have, because the store has failed recently. */
  knows(node: string): boolean;
  /**
   * Shares a change with the other nodes.
   * @throws UnavailableException if it cannot be stored; then nothing has changed
   */
  share(change: StateChange): Promise<void>;
  /** Records the requests that a stream of this node answers. @throws UnavailableException */
  begin(stream: string, requests: readonly RequestId[]): Promise<void>;
  /** Records that a stream is complete. @throws UnavailableException */
  finish(stream: string): Promise<void>;
  /**
   * The requests that a stream of another node answers; undefined if the stream has ended.
   * @throws UnavailableException
   */
  requestsOf(stream: string): Promise<readonly RequestId[] | undefined>;
  /** Whether a node is running. @throws UnavailableException */
  isAlive(node: string): Promise<boolean>;
}
