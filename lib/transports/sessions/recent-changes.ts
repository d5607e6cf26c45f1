import type { ServerEvent } from '@modelcontextprotocol/server';
import { CHANGES } from '../../protocol/changes.js';
import type { SharedEvent } from '../../server/shared-event-bus.js';
import { isRecord } from '../../util/is-record.js';

/** How long, and how many, changes are kept. The keys of stored messages live longer. */
const KEPT_MS = 50_000;
const MAX_KEPT = 1000;

/** The clocks of two nodes may differ by this, in milliseconds. */
const SKEW_MS = 5000;

export type Change = ServerEvent & SharedEvent;

/** When a list changed last. */
export interface ListChange {
  readonly at: number;
  readonly change: Change;
}

/**
 * The changes that this node has heard of lately, and the last change of each list. A node that becomes the home of a
 * session sends them again; the store drops those that the session has, by their keys.
 */
export class RecentChanges {
  private readonly kept: ListChange[] = [];
  private readonly lists = new Map<string, ListChange>();

  add(change: Change): void {
    const now = Date.now();
    const row = { at: now, change };
    if (change.kind !== 'resource_updated') this.lists.set(change.kind, row);
    this.kept.push(row);
    while (this.kept.length > MAX_KEPT || this.kept[0].at < now - KEPT_MS) this.kept.shift();
  }

  /** The last change of each list, for nodes that start. */
  get lastOfLists(): readonly ListChange[] {
    return [...this.lists.values()];
  }

  /** Learns from another node when a list changed. It ignores what is no such change. */
  learn(list: unknown): void {
    if (!isListChange(list)) return;
    const { kind } = list.change;
    if (list.at > (this.lists.get(kind)?.at ?? 0)) this.lists.set(kind, list);
  }

  /** What a client may have missed that has not listened since `time`, in milliseconds since 1970. */
  since(time: number): readonly Change[] {
    const from = time - SKEW_MS;
    const recent = this.kept.filter(({ at }) => at > from).map(({ change }) => change);
    const ids = new Set(recent.map(({ id }) => id));
    const earlier = this.lastOfLists.filter(({ at, change }) => at > from && !ids.has(change.id));
    return [...earlier.map(({ change }) => change), ...recent];
  }
}

const isListChange = (list: unknown): list is ListChange =>
  isRecord(list) &&
  typeof list['at'] === 'number' &&
  isRecord(list['change']) &&
  list['change']['kind'] !== 'resource_updated' &&
  Object.hasOwn(CHANGES, String(list['change']['kind']));
