import type { ServerEvent } from '@modelcontextprotocol/server';
import { isServerEvent, type SharedEvent } from '../../server/shared-event-bus.js';
import { isRecord } from '../../util/is-record.js';

/** How long, and how many, changes are kept. The keys of stored messages live longer. */
const KEPT_MS = 50_000;
const MAX_KEPT = 5000;

/** The clocks of two nodes may differ by this, in milliseconds. */
const SKEW_MS = 5000;

export type Change = ServerEvent & SharedEvent;

/** A change, and when a node heard of it, in milliseconds since 1970. */
export interface HeardChange {
  readonly at: number;
  readonly change: Change;
}

/**
 * The changes that this node has heard of lately, and the last change of each list. A node that becomes the home of a
 * session sends them again; the store drops those that the session has, by their keys.
 */
export class RecentChanges {
  private kept: HeardChange[] = [];
  private readonly lists = new Map<string, HeardChange>();
  /** The number of the last change of each node that came without a gap. */
  private readonly numbers = new Map<string, number>();

  add(change: Change): void {
    const now = Date.now();
    const row = { at: now, change };
    if (change.kind !== 'resource_updated') this.lists.set(change.kind, row);
    this.kept.push(row);
    const { node, number } = originOf(change);
    if (number === this.numberOf(node) + 1) this.numbers.set(node, number);
    while (this.kept.length > MAX_KEPT || this.kept[0].at < now - KEPT_MS) this.kept.shift();
  }

  /** The last change of each list, for nodes that start. */
  get lastOfLists(): readonly HeardChange[] {
    return [...this.lists.values()];
  }

  /** All that is kept, for a node that has just started. */
  get recent(): readonly HeardChange[] {
    return this.kept;
  }

  /** Learns from another node when lists changed. It ignores what is no such change. */
  learnLists(rows: unknown): void {
    for (const row of heardIn(rows)) {
      const { kind } = row.change;
      if (kind !== 'resource_updated' && row.at > (this.lists.get(kind)?.at ?? 0)) this.lists.set(kind, row);
    }
  }

  /** The number of the last change of a node that came without a gap, 0 for none. */
  numberOf(node: string): number {
    return this.numbers.get(node) ?? 0;
  }

  of(node: string, after: number): readonly HeardChange[] {
    return this.kept.filter(({ change }) => {
      const origin = originOf(change);
      return origin.node === node && origin.number > after;
    });
  }

  /** Learns what this node has missed. @returns what it did not know */
  learn(rows: unknown): readonly HeardChange[] {
    this.learnLists(rows);
    const own = new Set(this.kept.map(({ change }) => change.id));
    const missed = heardIn(rows).filter(({ change }) => !own.has(change.id));
    this.kept = [...missed, ...this.kept].slice(-MAX_KEPT);
    return missed;
  }

  /** Notes that nothing is missing of a node up to a number, or that what is missing is too old to be kept. */
  caughtUp(node: string, number: number): void {
    this.numbers.set(node, Math.max(number, this.numberOf(node)));
  }

  forget(node: string): void {
    this.numbers.delete(node);
  }

  /** What a client may have missed that has not listened since `time`, in milliseconds since 1970. */
  since(time: number): readonly Change[] {
    const recent = changesAfter(this.kept, time);
    const ids = new Set(recent.map(({ id }) => id));
    return [...changesAfter(this.lastOfLists, time).filter(({ id }) => !ids.has(id)), ...recent];
  }
}

/** The changes of which a node heard after `time`, in milliseconds since 1970 of another node. */
export const changesAfter = (rows: readonly HeardChange[], time: number): readonly Change[] =>
  rows.filter(({ at }) => at > time - SKEW_MS).map(({ change }) => change);

/** Which node published a change, and the number of the change there. */
function originOf({ id = '' }: SharedEvent): { readonly node: string; readonly number: number } {
  const [node, number] = id.split(':');
  return { node, number: Number(number) };
}

/** A node of another version may send other changes. */
const heardIn = (rows: unknown): readonly HeardChange[] =>
  Array.isArray(rows)
    ? rows.filter(
        (row): row is HeardChange =>
          isRecord(row) && typeof row['at'] === 'number' && isServerEvent(row['change']),
      )
    : [];
