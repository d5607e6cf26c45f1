/** The state of a session that the nodes of a server share: texts by name. */
export type SessionFields = Readonly<Record<string, string>>;

/**
 * Keeps the shared state of sessions (revision 2025-11-25 or earlier), so that a client can send each request to another
 * node.
 * `contracts.sessionStore` of `nestjs-mcp/testing` tests an implementation.
 */
export interface SessionStore {
  /**
   * Stores a session. It replaces an earlier session with the same id.
   * @param ttlMs lifetime of the session, in milliseconds
   */
  create(id: string, fields: SessionFields, ttlMs: number): Promise<void>;
  /** The fields of a session. @returns undefined for an unknown session */
  read(id: string): Promise<SessionFields | undefined>;
  /**
   * Sets each given field of a session, and restarts its lifetime.
   * @param fields undefined removes a field
   * @param expected fields that the session must have, compared and set in one step
   * @returns false for an unknown session, or a session with other fields; nothing is stored then
   */
  update(
    id: string,
    fields: Readonly<Record<string, string | undefined>>,
    ttlMs: number,
    expected?: SessionFields,
  ): Promise<boolean>;
  delete(id: string): Promise<void>;
}

interface Kept {
  readonly fields: Map<string, string>;
  timer: NodeJS.Timeout;
}

/**
 * Keeps sessions in this process, for several servers in one process and for tests.
 * @example
 * ```ts
 * McpModule.forRoot({
 *   name: 'shop',
 *   version: '1.0.0',
 *   bus: new MemoryMessageBus(),
 *   sessions: { store: new MemorySessionStore(), eventStore: new MemoryEventStore() },
 * });
 * ```
 */
export class MemorySessionStore implements SessionStore {
  private readonly sessions = new Map<string, Kept>();

  async create(id: string, fields: SessionFields, ttlMs: number): Promise<void> {
    await this.delete(id);
    this.sessions.set(id, { fields: new Map(Object.entries(fields)), timer: this.expire(id, ttlMs) });
  }

  async read(id: string): Promise<SessionFields | undefined> {
    const session = this.sessions.get(id);
    return session && Object.fromEntries(session.fields);
  }

  async update(
    id: string,
    fields: Readonly<Record<string, string | undefined>>,
    ttlMs: number,
    expected: SessionFields = {},
  ): Promise<boolean> {
    const session = this.sessions.get(id);
    if (!session) return false;
    if (Object.entries(expected).some(([name, text]) => session.fields.get(name) !== text)) return false;
    for (const [name, text] of Object.entries(fields)) {
      if (text === undefined) session.fields.delete(name);
      else session.fields.set(name, text);
    }
    clearTimeout(session.timer);
    session.timer = this.expire(id, ttlMs);
    return true;
  }

  async delete(id: string): Promise<void> {
    clearTimeout(this.sessions.get(id)?.timer);
    this.sessions.delete(id);
  }

  private expire(id: string, ttlMs: number): NodeJS.Timeout {
    return setTimeout(() => this.sessions.delete(id), ttlMs).unref();
  }
}
