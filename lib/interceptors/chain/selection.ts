import { isNotificationEvent, matchesEvent } from '../protocol/events.js';
import type { Phase } from '../protocol/types.js';
import { LOCAL_HOST, type PreparedEntry } from './entry.js';

/** The entries that hook one event in one phase, in running order. */
export interface Selection {
  readonly entries: readonly PreparedEntry[];
  readonly validators: readonly PreparedEntry[];
  /** Final validators, which run on the payload after mutations, if mutators changed a received payload. */
  readonly finals: readonly PreparedEntry[];
  /** Final validators that run only on the final payload, even if it is unchanged. */
  readonly onlyFinals: readonly PreparedEntry[];
  readonly mutators: readonly PreparedEntry[];
  readonly sinks: readonly PreparedEntry[];
  readonly size: number;
}

export const filtered = ({ entries }: Selection, keep: (entry: PreparedEntry) => boolean): Selection =>
  selectionOf(entries.filter(keep));

export type Hooked = Readonly<Record<Phase, Selection>>;

export function select(entries: readonly PreparedEntry[], event: string, phase: Phase): Selection {
  // A call can send hundreds of notifications, so remote hosts only get notifications that they hook by name.
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
  // The sort is stable, so the order of the given hosts decides between equal entries.
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
