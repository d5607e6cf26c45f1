import type { RequestId } from '@modelcontextprotocol/server';

/** A message on a stream of a session. */
export interface StoredEvent {
  /** Name of the stream in its session. */
  readonly stream: string;
  /** Number of the event in its stream. Each number is greater than the one before. */
  readonly sequence: number;
  /** The JSON-RPC message. */
  readonly json: string;
}

/** What happened on the stream of a call since the last write. */
export interface StreamWrite {
  readonly stream: string;
  /** Events of this stream, in order, numbered by the node that runs the call. */
  readonly events: readonly StoredEvent[];
  /** With the first write of an open stream: the requests that it answers. */
  readonly requests?: readonly RequestId[];
  /** With the last write of an open stream: all requests are answered. */
  readonly isOver?: boolean;
}

/** A message that belongs to no call. */
export interface OfferedMessage {
  readonly json: string;
  /** Identifies the message: a second message with this key is not stored, for a minute at least. */
  readonly key: string;
}

/**
 * Keeps the messages on the streams of sessions, so that a client can reconnect and get missed messages
 * (specification 2025-11-25: basic/transports, resumability and redelivery). A store has bounds, and drops the oldest
 * events first. `contracts.eventStore` of `nestjs-mcp/testing` tests an implementation.
 */
export interface EventStore {
  /**
   * Stores what happened on a stream. The writes of a stream arrive in order.
   * @param caller the caller that the session counts for, or the address of an anonymous caller; a store may give each
   * caller a share of its space
   */
  append(session: string, write: StreamWrite, caller?: string): Promise<void>;
  /** The stored events of a stream after an event, in order. */
  after(session: string, stream: string, sequence: number): Promise<readonly StoredEvent[]>;
  /** The open streams of a session, with the requests that each answers. */
  openStreams(session: string): Promise<ReadonlyMap<string, readonly RequestId[]>>;
  /**
   * Stores messages as the next events of a stream, and numbers them.
   * @param caller as for `append`
   * @returns the events, without messages whose key is known
   */
  push(
    session: string,
    stream: string,
    messages: readonly OfferedMessage[],
    caller?: string,
  ): Promise<readonly StoredEvent[]>;
  /**
   * Stores messages that do not belong to a stream yet.
   * @param caller as for `append`
   */
  offer(session: string, messages: readonly OfferedMessage[], caller?: string): Promise<void>;
  /** Moves the waiting messages to a stream, as its next events, in order. Each message is moved once. */
  take(session: string, stream: string): Promise<readonly StoredEvent[]>;
  /** Deletes all that is stored for a session. */
  delete(session: string): Promise<void>;
}
