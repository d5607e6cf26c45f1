/** A message on a stream of a session. */
export interface StoredEvent {
  /** Name of the stream in its session. */
  readonly stream: string;
  /** Number of the event in its stream: each is greater than the one before. */
  readonly sequence: number;
  /** The JSON-RPC message. */
  readonly json: string;
}

/**
 * Keeps what is sent on the streams of 2025-era sessions, so that a client whose connection broke gets what it missed
 * (specification 2025-11-25: basic/transports, resumability and redelivery). A store bounds what it keeps, and forgets the
 * oldest events first. `contracts.eventStore` of `nestjs-mcp/testing` tests an implementation.
 */
export interface EventStore {
  /** Keeps an event. The events of a stream come in their order. */
  append(session: string, event: StoredEvent): Promise<void>;
  /** The kept events of a stream that follow an event, in their order. */
  after(session: string, stream: string, sequence: number): Promise<readonly StoredEvent[]>;
  /**
   * Keeps a message that belongs to no stream yet.
   * @param key names the message: a second message of that key is not kept
   * @returns whether it is kept
   */
  offer(session: string, json: string, key?: string): Promise<boolean>;
  /** Makes the messages that wait the next events of a stream, in their order. Each message is taken once. */
  take(session: string, stream: string): Promise<readonly StoredEvent[]>;
  /** Forgets the events and the waiting messages of a session. */
  delete(session: string): Promise<void>;
}
