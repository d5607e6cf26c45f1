import { isNotificationEvent, matchesEvent } from '../protocol/events.js';
import type { Phase } from '../protocol/types.js';
import { LOCAL_HOST, type PreparedEntry } from './entry.js';

/** The entries that one event hooks in one phase, in the order in which they run. */
export interface Selection {
  readonly entries: readonly PreparedEntry[];
  readonly validators: readonly PreparedEntry[];
  /** Run on the payload as it stands after all mutations, where it was received and they changed it. */
  readonly finals: readonly PreparedEntry[];
  /** Those of the finals that run only then, and so whether or not anything was changed. */
  readonly onlyFinals: readonly PreparedEntry[];
  readonly mutators: readonly PreparedEntry[];
  readonly sinks: readonly PreparedEntry[];
  readonly size: number;
}

export const filtered = ({ entries }: Selection, keep: (entry: PreparedEntry) => boolean): Selection =>
  selectionOf(entries.filter(keep));

export type Hooked = Readonly<Record<Phase, Selection>>;

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
  // The sort is stable, so that hosts in the order they were given break the last ties.
  const mutators = hooked
    .filter(({ type }) => type === 'mutation')
    .sort((a, b) => a.priority[phase] - b.priority[phase] || compareCodeUnits(a.name, b.name));
  return selectionOf([...hooked.filter(({ type }) => type !== 'mutation'), ...mutators]);
}

function selectionOf(entries: readonly PreparedEntry[]): Selection {
  const of = (wanted: string) => entries.filter(({ type }) => type === wanted);
  const validators = of('validation');
  return {
    entries,
    validators: validators.filter(({ traits }) => traits.final !== 'only'),
    finals: validators.filter(({ traits }) => traits.final),
    onlyFinals: validators.filter(({ traits }) => traits.final === 'only'),
    mutators: of('mutation'),
    sinks: of('sink'),
    size: entries.length,
  };
}

const compareCodeUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
