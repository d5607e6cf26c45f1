import { SdkError, SdkErrorCode, type Result } from '@modelcontextprotocol/server';

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
/** How long one that could not be fetched is not asked for again, in milliseconds: a call looks into it more than once. */
const FAILED_MS = 1000;
/** The most views, for small lists, which take little of the room for all; and the most pages and rows of one list. */
const MAX_VIEWS = 10_000;
const MAX_PAGES = 1000;
const MAX_ROWS = 10_000;

/** Bounds on what the lists of one backend may take. */
export interface ListBounds {
  /** How long one may take to come in, in milliseconds. */
  readonly timeoutMs: number;
  /** The most characters of JSON that one may have. Default: 16 Mi. */
  readonly maxLength?: number;
  /** The most that all may have together, in all views. Default: 64 Mi. */
  readonly maxTotalLength?: number;
}

interface Walk {
  readonly at: number;
  /** How much of it there is, in characters of JSON. */
  length: number;
  /** Whether nobody is to find it any more; what it takes is given back once it has ended. */
  isForgotten: boolean;
  hasEnded: boolean;
  failedAt?: number;
  pages: Promise<readonly Result[]>;
}

type View = Map<ListMethod, Walk>;

function isCurrent({ at, failedAt }: Walk, fresh: boolean): boolean {
  if (failedAt !== undefined) return Date.now() - failedAt < FAILED_MS;
  return Date.now() - at < (fresh ? FRESH_MS : MAX_AGE_MS);
}

/** The view of all callers: lists of which the backend says that they are the same for everybody. */
const PUBLIC = Symbol('public');

const isPublic = ({ cacheScope }: Result): boolean => cacheScope === 'public';

/** Whole lists of a backend, as its callers see them: those who see the same share a view. */
export class KnownLists {
  private readonly views = new Map<unknown, View>();
  private readonly bounds: Required<ListBounds>;
  /** What all lists take, those that come in among them. */
  private total = 0;

  constructor(bounds: ListBounds) {
    this.bounds = { maxLength: 16 * 1024 * 1024, maxTotalLength: 64 * 1024 * 1024, ...bounds };
  }

  /**
   * All pages of a list.
   * @param fetch gets one of them, on nobody's signal: others may wait for the same
   * @throws whatever `fetch` does, and an Error for a list without an end or out of bounds
   */
  pages(
    view: unknown,
    method: ListMethod,
    fetch: (cursor: string | undefined) => Promise<Result>,
    fresh = false,
  ): Promise<readonly Result[]> {
    for (const key of [view, PUBLIC]) {
      const known = this.used(key)?.get(method);
      if (known && isCurrent(known, fresh)) return known.pages;
    }
    const walk = { at: Date.now(), length: 0, isForgotten: false, hasEnded: false } as Walk;
    walk.pages = this.walk(walk, method, fetch);
    this.keep(view, method, walk);
    walk.pages
      .then(
        pages => {
          if (pages.every(isPublic)) this.share(view, method, walk);
        },
        () => {
          walk.failedAt = Date.now();
          this.drop(walk);
        },
      )
      .finally(() => {
        walk.hasEnded = true;
        if (walk.isForgotten) this.total -= walk.length;
      });
    return walk.pages;
  }

  /** Forgets one list of a view, and the one that all callers share. */
  forgetList(view: unknown, method: ListMethod): void {
    for (const key of [view, PUBLIC]) this.remove(key, method);
  }

  /** Forgets what a view shows; without one, what all show. */
  forget(view?: unknown): void {
    for (const key of view === undefined ? [...this.views.keys()] : [view]) {
      this.views.get(key)?.forEach(walk => this.drop(walk));
      this.views.delete(key);
    }
  }

  private drop(walk: Walk): void {
    if (walk.isForgotten) return;
    walk.isForgotten = true;
    if (walk.hasEnded) this.total -= walk.length;
  }

  /** The lists of a view, which becomes the one that was used last: the views are kept in that order. */
  private used(view: unknown): View | undefined {
    const lists = this.views.get(view);
    if (!lists) return undefined;
    this.views.delete(view);
    this.views.set(view, lists);
    return lists;
  }

  private keep(view: unknown, method: ListMethod, walk: Walk): void {
    const known = this.used(view)?.get(method);
    if (known) this.drop(known);
    const lists = this.views.get(view) ?? new Map<ListMethod, Walk>();
    lists.set(method, walk);
    this.views.set(view, lists);
    if (this.views.size > MAX_VIEWS) this.forget(this.views.keys().next().value);
  }

  /** Gives a list to all callers, unless it was forgotten while it came in. */
  private share(view: unknown, method: ListMethod, walk: Walk): void {
    const lists = this.views.get(view);
    if (walk.isForgotten || lists?.get(method) !== walk) return;
    lists.delete(method);
    if (lists.size === 0) this.views.delete(view);
    this.keep(PUBLIC, method, walk);
  }

  private remove(view: unknown, method: ListMethod): void {
    const lists = this.views.get(view);
    const known = lists?.get(method);
    if (!lists || !known) return;
    this.drop(known);
    lists.delete(method);
    if (lists.size === 0) this.views.delete(view);
  }

  private async walk(
    walk: Walk,
    method: ListMethod,
    fetch: (cursor: string | undefined) => Promise<Result>,
  ): Promise<Result[]> {
    const pages: Result[] = [];
    let cursor: string | undefined;
    let rows = 0;
    do {
      const page = await fetch(cursor);
      this.grow(walk, method, JSON.stringify(page).length);
      pages.push(page);
      rows += rowsOf(method, page).length;
      cursor = typeof page['nextCursor'] === 'string' ? page['nextCursor'] : undefined;
      if (cursor !== undefined && (pages.length >= MAX_PAGES || rows >= MAX_ROWS)) {
        throw new Error(`${method} has more than ${MAX_PAGES} pages or ${MAX_ROWS} rows`);
      }
      if (cursor !== undefined && Date.now() - walk.at > this.bounds.timeoutMs) {
        throw new SdkError(SdkErrorCode.RequestTimeout, `${method} took too long`);
      }
    } while (cursor !== undefined);
    return pages;
  }

  /** @throws Error where a list is too large, or there is no room for it beside those that come in */
  private grow(walk: Walk, method: ListMethod, length: number): void {
    const { maxLength, maxTotalLength } = this.bounds;
    walk.length += length;
    this.total += length;
    if (walk.length > maxLength) throw new Error(`${method} is larger than ${maxLength} characters`);
    for (const [key, lists] of this.views) {
      if (this.total <= maxTotalLength) return;
      if (![...lists.values()].includes(walk)) this.forget(key);
    }
    if (this.total > maxTotalLength)
      throw new Error(`The lists are larger than ${maxTotalLength} characters`);
  }
}
