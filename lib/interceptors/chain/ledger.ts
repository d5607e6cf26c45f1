import type { EntryResult, SkippedEntry } from './result.js';

/** What became of each interceptor of a run. Places are kept in the order in which they started. */
export class Ledger {
  private readonly places: (EntryResult | undefined)[] = [];
  readonly skipped: SkippedEntry[] = [];

  /** Keeps a place for a result that is still to come. */
  reserve(): number {
    return this.places.push(undefined) - 1;
  }

  put(place: number, result: EntryResult): void {
    this.places[place] = result;
  }

  results(): EntryResult[] {
    return this.places.filter(isThere);
  }
}

const isThere = (result: EntryResult | undefined): result is EntryResult => result !== undefined;
