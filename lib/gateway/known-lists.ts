import type { Result } from '@modelcontextprotocol/server';

/** The lists that a server has, and the member of their results that holds the rows. */
export const LIST_MEMBERS = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
} as const;

export type ListMethod = keyof typeof LIST_MEMBERS;
export type Row = Readonly<Record<string, unknown>>;

export const isList = (method: string): method is ListMethod => Object.hasOwn(LIST_MEMBERS, method);

/** The rows of a list's result. */
export function rowsOf(method: ListMethod, result: unknown): readonly Row[] {
  const rows = (result as Row)[LIST_MEMBERS[method]];
  return Array.isArray(rows) ? (rows as Row[]) : [];
}

/** How long a list is known for, in milliseconds, where nothing says that it has changed. */
const MAX_AGE_MS = 60_000;
/** How old it may be, in milliseconds, where what was looked for is not in it. */
const FRESH_MS = 1000;
/** The most views, and the most pages and rows of one list. */
const MAX_VIEWS = 100;
const MAX_PAGES = 1000;
const MAX_ROWS = 10_000;

interface Walk {
  readonly at: number;
  readonly pages: Promise<readonly Result[]>;
}

/** Whole lists of a backend, as its callers see them: those who see the same share a view. */
export class KnownLists {
  private readonly views = new Map<unknown, Map<ListMethod, Walk>>();

  /** @param onPage called with every page that comes in */
  constructor(private readonly onPage: (method: ListMethod, page: Result) => void) {}

  /**
   * All pages of a list.
   * @param fetch gets one of them, on nobody's signal: others may wait for the same
   * @throws whatever `fetch` does, and an Error for a list without an end
   */
  pages(
    view: unknown,
    method: ListMethod,
    fetch: (cursor: string | undefined) => Promise<Result>,
    fresh = false,
  ): Promise<readonly Result[]> {
    const lists = this.view(view);
    const known = lists.get(method);
    if (known && Date.now() - known.at < (fresh ? FRESH_MS : MAX_AGE_MS)) return known.pages;
    const walk: Walk = { at: Date.now(), pages: this.walk(method, fetch) };
    lists.set(method, walk);
    walk.pages.catch(() => lists.get(method) === walk && lists.delete(method));
    return walk.pages;
  }

  /** Forgets what a view shows; without one, what all show. */
  forget(view?: unknown): void {
    if (view === undefined) this.views.clear();
    else this.views.delete(view);
  }

  private view(view: unknown): Map<ListMethod, Walk> {
    const lists = this.views.get(view) ?? new Map<ListMethod, Walk>();
    // The views are kept in the order of their last use.
    this.views.delete(view);
    this.views.set(view, lists);
    if (this.views.size > MAX_VIEWS) this.views.delete(this.views.keys().next().value);
    return lists;
  }

  private async walk(
    method: ListMethod,
    fetch: (cursor: string | undefined) => Promise<Result>,
  ): Promise<Result[]> {
    const pages: Result[] = [];
    let cursor: string | undefined;
    let rows = 0;
    do {
      const page = await fetch(cursor);
      this.onPage(method, page);
      pages.push(page);
      rows += rowsOf(method, page).length;
      cursor = typeof page['nextCursor'] === 'string' ? page['nextCursor'] : undefined;
      if (cursor !== undefined && (pages.length >= MAX_PAGES || rows >= MAX_ROWS)) {
        throw new Error(`${method} has more than ${MAX_PAGES} pages or ${MAX_ROWS} rows`);
      }
    } while (cursor !== undefined);
    return pages;
  }
}
