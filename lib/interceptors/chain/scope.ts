import { pointerSteps } from '../../schema/json-schema.js';
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
  changes(at(before, keys), at(after, keys)).next().done === true;

function at(value: unknown, keys: readonly string[]): unknown {
  let node = value;
  for (const key of keys) {
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
    node = (node as Record<string, unknown>)[key];
  }
  return node;
}

const within = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);
const touches = (path: string, place: string): boolean => within(path, place) || within(place, path);
