import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import type { StateChange } from '../../server/connection-server.js';

/** What one node tells the others of a session. */
export type PeerMessage =
  /** The session was anonymous, and has an owner now. */
  | { readonly kind: 'bound'; readonly caller: string }
  /** The session has ended. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'state'; readonly change: StateChange }
  /** The client has cancelled a request that may run on another node. */
  | { readonly kind: 'cancel'; readonly requestId: RequestId; readonly reason?: unknown }
  /** The client has answered what a node asks. */
  | { readonly kind: 'answer'; readonly node: string; readonly message: JSONRPCMessage }
  /** A node has got the answer to what it asks. */
  | { readonly kind: 'confirmed'; readonly node: string; readonly id: unknown }
  /** Messages wait for a stream. */
  | { readonly kind: 'waiting' }
  /** A stream has a new event, or at least so many. */
  | { readonly kind: 'event'; readonly stream: string; readonly sequence: number; readonly json?: string }
  /** The client reads a stream on the node that sends this. */
  | { readonly kind: 'taken'; readonly stream: string }
  /** A stream has all its messages. */
  | { readonly kind: 'over'; readonly stream: string };

/** The other nodes, as one session sees them. */
export interface Peers {
  /** Names this node. */
  readonly node: string;
  tell(message: PeerMessage): void;
  /** A number that no other stream of this node has. */
  nextStream(): number;
  /** Whether a node has been heard of lately. */
  knows(node: string): boolean;
  /**
   * Lets other nodes know a change.
   * @throws UnavailableException if it cannot be kept; then nothing has changed
   */
  share(change: StateChange): Promise<void>;
  /** Notes which requests a stream of this node is to answer. @throws UnavailableException */
  begin(stream: string, requests: readonly RequestId[]): Promise<void>;
  /** The stream has all its messages. @throws UnavailableException */
  finish(stream: string): Promise<void>;
  /**
   * The requests that a stream of another node is to answer; undefined if it has ended.
   * @throws UnavailableException
   */
  requestsOf(stream: string): Promise<readonly RequestId[] | undefined>;
  /** Whether a node runs. @throws UnavailableException */
  isAlive(node: string): Promise<boolean>;
}
