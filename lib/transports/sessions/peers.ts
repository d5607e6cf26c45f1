import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import type { StateChange } from '../../server/connection-server.js';
import type { SharedState } from './session-record.js';

/** A message between nodes about a session. */
export type PeerMessage =
  /** An anonymous session now has an owner. */
  | { readonly kind: 'bound'; readonly caller: string }
  | { readonly kind: 'closed' }
  | { readonly kind: 'state'; readonly change: StateChange }
  /** Another node is the home of the session now. `listens` says whether the client listens there. */
  | { readonly kind: 'moved'; readonly to: string; readonly listens: boolean }
  /** The client listens no longer on the node that took the session over. */
  | { readonly kind: 'left' }
  /** The client has cancelled a request that may run on another node. */
  | { readonly kind: 'cancel'; readonly requestId: RequestId; readonly reason?: unknown }
  /** The client has answered a request of a node, to the node `by`. */
  | { readonly kind: 'answer'; readonly by: string; readonly message: JSONRPCMessage }
  /** A node has received the answer to its request. */
  | { readonly kind: 'confirmed'; readonly node: string; readonly id: unknown }
  /** Messages are waiting for a stream. */
  | { readonly kind: 'waiting' }
  /** A stream has events up to this number. `json` holds the event with this number. */
  | { readonly kind: 'event'; readonly stream: string; readonly sequence: number; readonly json?: string }
  /** The client now reads a stream on the node `by`. */
  | { readonly kind: 'taken'; readonly stream: string; readonly by: string }
  /** A client has left a call on the node `by`: does it have a GET stream here? */
  | { readonly kind: 'sought'; readonly by: string }
  /** The client has a GET stream on the sending node. */
  | { readonly kind: 'attended' }
  | { readonly kind: 'over'; readonly stream: string };

/** The other nodes, from the view of one session. */
export interface Peers {
  readonly node: string;
  /**
   * Whether this node sends the messages of the session that belong to no call. The home has opened the session, or has
   * its GET stream.
   */
  readonly isHome: boolean;
  /** Tells one node, or all. Resolves when the message has left this node, or cannot leave it. Never rejects. */
  tell(message: PeerMessage, node?: string): Promise<void>;
  /** Tells the home, unless it is this node. */
  tellHome(message: PeerMessage): Promise<void>;
  /** Tells the home, and the nodes that stream an answer. Never rejects. */
  tellHolders(message: PeerMessage): Promise<void>;
  /** Notes that another node is the home now. */
  moved(to: string): void;
  /**
   * Makes this node the home.
   * @param listens whether the client listens here
   * @returns the node that was the home before; undefined if this node is it already, or the session has ended
   * @throws UnavailableException
   */
  takeHome(listens: boolean): Promise<string | undefined>;
  /** Records when the client stopped to listen, in milliseconds since 1970. @throws UnavailableException */
  noteListened(until: number): Promise<void>;
  /** Returns a number that is unique among this node's streams and messages. */
  nextNumber(): number;
  /** Whether the store has failed recently, so that messages of other nodes may be missing. */
  isCut(): boolean;
  /** Whether a node has sent a message recently, or may have, because the store has failed recently. */
  knows(node: string): boolean;
  /**
   * Shares a change with the other nodes.
   * @throws UnavailableException if it cannot be stored; then nothing has changed
   */
  share(change: StateChange): Promise<void>;
  /** Called with the record when this node has become the home. */
  onHome?: (state: SharedState) => void;
  /** The shared texts of the client's side, as JSON. @throws UnavailableException */
  readChannel(): Promise<string | undefined>;
  /** @returns false if they are not as expected. @throws UnavailableException */
  writeChannel(json: string, expected: string): Promise<boolean>;
  /** Whether a node is running. @throws UnavailableException */
  isAlive(node: string): Promise<boolean>;
}
