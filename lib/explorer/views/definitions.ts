import type { Entry } from '../../catalog/entries.js';
import type { McpServerInstance } from '../../server/mcp-server-instance.js';
import { LIST_OF, listOf, rowsOf, type Row } from '../../protocol/methods.js';
import type { Era } from '../../protocol/mcp-call.js';
import { encodeResult } from '../../server/wire-codec.js';

/** The row of a list for an entry, in each era. */
export type Definitions = (entry: Entry) => Readonly<Record<Era, Row>> | undefined;

/** Has the entries encoded as lists are, all at once: an era can have other forms of schemas. */
export function definitionsOf(server: McpServerInstance, entries: readonly Entry[]): Definitions {
  const rows = new Map<Entry, Record<Era, Row>>();
  for (const [kind, method] of Object.entries(LIST_OF)) {
    const own = entries.filter(entry => entry.kind === kind && 'definition' in entry);
    const definitions = own.map(entry => 'definition' in entry && entry.definition);
    const encoded = (era: Era) =>
      rowsOf(
        method,
        encodeResult({ method, era }, { [listOf(method).lists]: definitions }, server.info, undefined),
      );
    const [modern, legacy] = [encoded('modern'), encoded('legacy')];
    own.forEach((entry, index) => rows.set(entry, { modern: modern[index], legacy: legacy[index] }));
  }
  return entry => rows.get(entry);
}
