import type { Entry, EntryByKind } from '../catalog/entries.js';
import type { HandlerKind } from '../decorators/handler-options.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';

/** All handlers of one server, enabled and disabled, in the order of registration. */
export class HandlerTable {
  private readonly rows = new Map<string, { entry: Entry; enabled: boolean }>();

  /**
   * @param remedy what to do if another handler has the same name
   * @throws McpBootstrapError that names both places
   */
  add(entry: Entry, remedy?: string): void {
    const other = this.rows.get(rowKey(entry.kind, entry.key))?.entry;
    if (other) {
      const todo = remedy ?? (other.where === entry.where ? DECLARE_ONCE : 'give one of them another name');
      throw new McpBootstrapError(
        entry.where,
        `the ${entry.kind} ${JSON.stringify(entry.key)} already exists in ${other.where}; ${todo}`,
      );
    }
    this.rows.set(rowKey(entry.kind, entry.key), { entry, enabled: true });
  }

  /** Replaces the entry with the same name. @returns false if no entry has this name */
  replace(entry: Entry): boolean {
    const row = this.rows.get(rowKey(entry.kind, entry.key));
    if (row) row.entry = entry;
    return row !== undefined;
  }

  setEnabled(kind: HandlerKind, key: string, enabled: boolean): boolean {
    const row = this.rows.get(rowKey(kind, key));
    if (row) row.enabled = enabled;
    return row !== undefined;
  }

  remove(kind: HandlerKind, key: string): boolean {
    return this.rows.delete(rowKey(kind, key));
  }

  /** The enabled entry with this name. */
  get<K extends HandlerKind>(kind: K, key: string): EntryByKind[K] | undefined {
    const { entry, enabled } = this.rows.get(rowKey(kind, key)) ?? {};
    return enabled ? (entry as EntryByKind[K]) : undefined;
  }

  *enabled(): Generator<Entry> {
    for (const { entry, enabled } of this.rows.values()) if (enabled) yield entry;
  }
}

const DECLARE_ONCE = 'declare it once, and list its class in the providers of one module only';

const rowKey = (kind: HandlerKind, key: string): string => `${kind} ${key}`;
