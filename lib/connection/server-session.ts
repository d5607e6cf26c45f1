import type { Client, InitializeResult } from '@modelcontextprotocol/client';

/** A 2025-era session of a server: its id, and the server's answer to the handshake. */
export interface ServerSession {
  readonly id: string;
  readonly result: InitializeResult;
}

/** A 2025-era session of a server that several nodes use. */
export interface ServerSessionShare {
  /** The session that a node has opened, if any. */
  find(): Promise<ServerSession | undefined>;
  /**
   * Offers a session to the other nodes.
   * @param client has opened it
   * @returns false if another node has offered one in the meantime
   */
  offer(session: ServerSession, client: Client): Promise<boolean>;
  /** The server does not know the session any more. */
  lost(id: string): Promise<void>;
  /** Whether this node reads what the server sends without a call. */
  readonly isListening: boolean;
  /** Whether the session ends with the connection. */
  readonly isOver: boolean;
}
