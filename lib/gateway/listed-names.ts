import type { Result } from '@modelcontextprotocol/server';
import { isList, listOf, rowsOf } from '../protocol/methods.js';
import type { NamedKind } from '../protocol/traffic-listener.js';
import { isRecord } from '../util/is-record.js';

/** Most names that are kept. A backend can list other names each time. */
const MAX_NAMES = 1000;
const MAX_LENGTH = 1000;

/** The names that a backend has listed for any caller, so that telemetry tells them from names that a caller invents. */
export class ListedNames {
  private readonly names = new Set<string>();

  has(kind: NamedKind, name: string): boolean {
    return this.names.has(keyOf(kind, name));
  }

  learn(method: string, result: Result): void {
    if (!isList(method)) return;
    const { kind } = listOf(method);
    if (kind !== 'tool' && kind !== 'prompt') return;
    for (const row of rowsOf(method, result)) {
      const name = isRecord(row) ? row['name'] : undefined;
      if (this.names.size >= MAX_NAMES) return;
      if (typeof name === 'string' && name.length <= MAX_LENGTH) this.names.add(keyOf(kind, name));
    }
  }
}

const keyOf = (kind: NamedKind, name: string): string => `${kind} ${name}`;
