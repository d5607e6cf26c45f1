import { LRUCache } from 'lru-cache';
import { isNotificationEvent, matchesEvent } from '../protocol/events.js';
import type { Phase } from '../protocol/types.js';
import { LOCAL_HOST, type PreparedEntry } from './entry.js';

/** The entries that one event hooks in one phase, in the order in which they run. */
export interface Selection {
  readonly validators: readonly PreparedEntry[];
  /** Run on the payload as it stands after all mutations, where it was received and they changed it. */
  readonly finals: readonly PreparedEntry[];
  /** Those of the finals that run only then, and so whether or not anything was changed. */
  readonly onlyFinals: readonly PreparedEntry[];
  readonly mutators: readonly PreparedEntry[];
  readonly sinks: readonly PreparedEntry[];
  readonly size: number;
}

export const onlyMutators = (selection: Selection): Selection =>
  filtered(selection, ({ type }) => type === 'mutation');

export function filtered(selection: Selection, keep: (entry: PreparedEntry) => boolean): Selection {
  const [validators, finals, onlyFinals, mutators, sinks] = [
    selection.validators.filter(keep),
    selection.finals.filter(keep),
    selection.onlyFinals.filter(keep),
    selection.mutators.filter(keep),
    selection.sinks.filter(keep),
  ];
  const size = validators.length + onlyFinals.length + mutators.length + sinks.length;
  return { validators, finals, onlyFinals, mutators, sinks, size };
}

export type Hooked = Readonly<Record<Phase, Selection>>;

/** How many events are kept: custom ones are named by callers, so their number needs a bound. */
const MAX_EVENTS = 1000;

export class Selector {
  private readonly known = new LRUCache<string, Hooked>({ max: MAX_EVENTS });

  constructor(private readonly entries: readonly PreparedEntry[]) {}

  select(event: string): Hooked {
    const before = this.known.get(event);
    if (before) return before;
    const hooked = {
      request: select(this.entries, event, 'request'),
      response: select(this.entries, event, 'response'),
    };
    this.known.set(event, hooked);
    return hooked;
  }
}

export function select(entries: readonly PreparedEntry[], event: string, phase: Phase): Selection {
  // There can be hundreds of notifications in a call: another host gets them only if it asks for them.
  const isForAll = !isNotificationEvent(event);
  const hooked = entries.filter(({ hooks, host }) =>
    hooks.some(
      hook =>
        hook.phase === phase &&
        hook.events.some(
          pattern => matchesEvent(pattern, event) && (isForAll || host === LOCAL_HOST || pattern !== '*'),
        ),
    ),
  );
  const of = (wanted: string) => hooked.filter(({ type }) => type === wanted);
  const validators = of('validation');
  return {
    validators: validators.filter(({ traits }) => traits.final !== 'only'),
    finals: validators.filter(({ traits }) => traits.final !== undefined && traits.final !== false),
    onlyFinals: validators.filter(({ traits }) => traits.final === 'only'),
    // The sort is stable, so that hosts in the order they were given break the last ties.
    mutators: of('mutation').sort(
      (a, b) => a.priority[phase] - b.priority[phase] || compareCodeUnits(a.name, b.name),
    ),
    sinks: of('sink'),
    size: hooked.length,
  };
}

const compareCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
