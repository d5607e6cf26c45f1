import { LRUCache } from 'lru-cache';
import { defined } from '../util/defined.js';

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
  private readonly sessions = new LRUCache<string, SessionFields>({
    ttl: 1,
    ttlResolution: 0,
    ttlAutopurge: true,
  });

  async create(id: string, fields: SessionFields, ttlMs: number): Promise<void> {
    this.sessions.set(id, { ...fields }, { ttl: ttlMs });
  }

  async read(id: string): Promise<SessionFields | undefined> {
    return this.sessions.get(id);
  }

  async update(
    id: string,
    fields: Readonly<Record<string, string | undefined>>,
    ttlMs: number,
    expected: SessionFields = {},
  ): Promise<boolean> {
    const held = this.sessions.get(id);
    if (!held || Object.entries(expected).some(([name, text]) => held[name] !== text)) return false;
    this.sessions.set(id, defined({ ...held, ...fields }) as SessionFields, { ttl: ttlMs });
    return true;
  }

  async delete(id: string): Promise<void> {
    this.sessions.delete(id);
  }
}
