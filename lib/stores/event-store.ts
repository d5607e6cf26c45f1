/** A message on a stream of a session. */
export interface StoredEvent {
  /** Name of the stream in its session. */
  readonly stream: string;
  /** Number of the event in its stream. Each number is greater than the one before. */
  readonly sequence: number;
  /** The JSON-RPC message. */
  readonly json: string;
}

/**
 * Keeps the messages on the streams of 2025-era sessions, so that a client can reconnect and get missed messages
 * (specification 2025-11-25: basic/transports, resumability and redelivery). A store has bounds, and drops the oldest
 * events first. `contracts.eventStore` of `nestjs-mcp/testing` tests an implementation.
 */
export interface EventStore {
  /**
   * Stores an event. The events of a stream arrive in order.
   * @param caller the caller that the session counts for, or the address of an anonymous caller; a store may give each
   * caller a share of its space
   */
  append(session: string, event: StoredEvent, caller?: string): Promise<void>;
  /** The stored events of a stream after an event, in order. */
  after(session: string, stream: string, sequence: number): Promise<readonly StoredEvent[]>;
  /**
   * Stores a message that does not belong to a stream yet.
   * @param key identifies the message: a second message with this key is not stored
   * @param caller as for `append`
   * @returns whether the message is stored
   */
  offer(session: string, json: string, key?: string, caller?: string): Promise<boolean>;
  /** Moves the waiting messages to a stream, as its next events, in order. Each message is moved once. */
  take(session: string, stream: string): Promise<readonly StoredEvent[]>;
  /** Deletes the events and the waiting messages of a session. */
  delete(session: string): Promise<void>;
}
