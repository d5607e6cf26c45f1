import { pointerSteps, valueAt } from '../../schema/json-schema.js';
import type { Phase } from '../protocol/types.js';
import { changes } from './diff.js';

export interface MutationScope {
  /** The only paths that may change. Default: all except `/name`, `/uri` and `/progressToken`. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /**
   * The reaction to a change outside the scope: the mutator fails, or its mutation is dropped and reported. Default:
   * `fail`.
   */
  readonly onBreach?: 'fail' | 'drop';
}

const IDENTITY = ['/name', '/uri', '/progressToken'];

export class Scope {
  private readonly denied: readonly { readonly path: string; readonly keys: readonly string[] }[];
  private readonly allowed: readonly string[] | undefined;
  readonly drops: boolean;

  constructor({ allow, deny = [], onBreach }: MutationScope = {}, phase: Phase) {
    const identity = phase === 'request' ? IDENTITY.filter(path => !allow?.includes(path)) : [];
    this.denied = [...deny, ...identity].map(path => ({ path, keys: pointerSteps(path) }));
    this.allowed = allow;
    this.drops = onBreach === 'drop';
  }

  breach(before: unknown, after: unknown): string | undefined {
    if (this.allowed === undefined && this.denied.every(({ keys }) => sameAt(before, after, keys)))
      return undefined;
    for (const { path } of changes(before, after)) {
      const isAllowed = this.allowed?.some(place => within(path, place)) ?? true;
      if (!isAllowed || this.denied.some(place => touches(path, place.path))) return path;
    }
    return undefined;
  }
}

const sameAt = (before: unknown, after: unknown, keys: readonly string[]): boolean =>
  changes(valueAt(before, keys), valueAt(after, keys)).next().done === true;

const within = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);
const touches = (path: string, place: string): boolean => within(path, place) || within(place, path);
