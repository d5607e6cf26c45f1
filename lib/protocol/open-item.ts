/** A session or stream that a client holds open, for operators. */
export interface OpenItem {
  /** The key of its caller in the limits; see `limitKeyOf`. */
  readonly caller: string;
  /** The beginning of the id of its session: the whole id would let its reader use the session. */
  readonly session?: string;
  /** As the client sent it, so anything for a stream that has not begun. */
  readonly revision?: string;
  /** When it was opened, in milliseconds since 1970. */
  readonly since: number;
  /** When the client of a session sent its latest message, or a stream its own, in milliseconds since 1970. */
  readonly lastMessageAt?: number;
}

/** The characters of a session's id that operators see. */
const SHOWN = 8;

export const shownId = (id: string): string => id.slice(0, SHOWN);
