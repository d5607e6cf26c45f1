import type { IncomingMessage, ServerResponse } from 'node:http';

/** A 2025-era session, as operators see it. */
export interface OpenSession {
  readonly sessionId: string;
  /** The key of its owner; see `callerOf`. */
  readonly caller: string;
  /** The key of its caller in the limits; see `limitKeyOf`. */
  readonly options: { readonly limitKey: string; readonly openedAt: number };
  readonly server: { readonly server: { getNegotiatedProtocolVersion(): string | undefined } };
  readonly lastMessageAt: number;
}

/** A request whose response is a stream on which its client listens. */
export interface OpenStream {
  readonly caller: string;
  readonly rawRequest: IncomingMessage;
  readonly rawResponse: ServerResponse;
}

/** What clients hold open, the oldest first. Times are in milliseconds since 1970. */
export interface OpenItems {
  sessions?: ReadonlyMap<string, OpenSession>;
  /** By the stream, when it was opened. */
  streams?: ReadonlyMap<OpenStream, number>;
}
