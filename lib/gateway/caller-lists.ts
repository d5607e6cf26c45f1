import { type Result, SdkError, SdkErrorCode } from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { toClientError } from './backend-error.js';
import { resultFor } from './caller-params.js';
import type { BackendLimit, ListDeadlines } from './caller-waits.js';
import { rowsOf, type ListMethod, type Row, DISPATCHED, isList } from '../protocol/methods.js';

export class CallerLists {
  private readonly known: KnownLists;

  /**
   * @param deadlines of the calls, at all backends
   * @param limit counts the calls that wait for a list of this backend
   * @param viewOf callers with the same view see the same lists
   */
  constructor(
    timeoutMs: number,
    private readonly deadlines: ListDeadlines,
    private readonly limit: BackendLimit,
    private readonly viewOf: (exchange: McpCall) => string,
    private readonly fetch: (method: ListMethod, params: Params, exchange: McpCall) => Promise<Result>,
    private readonly onFailure: (thrown: unknown) => void,
  ) {
    this.known = new KnownLists({ timeoutMs });
  }

  async pages(method: ListMethod, exchange: McpCall, fresh = false): Promise<readonly Result[]> {
    const fetch = (cursor: string | undefined) =>
      this.fetch(method, cursor === undefined ? {} : { cursor }, detachedFrom(exchange));
    const pages = this.known.pages(this.viewOf(exchange), method, fetch, fresh);
    const all = pages instanceof Promise ? await this.wait(exchange, () => pages) : pages;
    return all.map(page => resultFor(exchange.era, page));
  }

  /** Waits for a list within the call's bounds. The promise itself continues. */
  async wait<T>(exchange: McpCall, list: () => Promise<T>): Promise<T> {
    try {
      return await this.limit.hold(exchange, () => this.deadlines.within(exchange, list()));
    } catch (error) {
      throw toClientError(error, this.onFailure, exchange.reply.signal);
    }
  }

  /** If the cached list does not have the row, the list is fetched again. */
  async find(method: ListMethod, exchange: McpCall, is: (row: Row) => boolean): Promise<Row | undefined> {
    for (const fresh of [false, true]) {
      for (const page of await this.pages(method, exchange, fresh)) {
        const row = rowsOf(method, page).find(is);
        if (row) return row;
      }
    }
    return undefined;
  }

  /** The headers of the next call must fit the definition that its caller has seen last. */
  relist(exchange: McpCall): void {
    this.known.forgetList(this.viewOf(exchange), 'tools/list');
  }

  forget(view?: string): void {
    this.known.forget(view);
  }
}

/** The caller without the call: a shared list has no signal, answers, progress or log of one request. */
function detachedFrom(exchange: McpCall): McpCall {
  const { inputResponses: _answers, meta: { progressToken: _token, ...meta } = {}, ...caller } = exchange;
  return {
    ...caller,
    meta,
    requestState: undefined,
    reply: { signal: new AbortController().signal, notify: () => Promise.resolve() },
  };
}

/** How long a list is cached without a notification of a change, in milliseconds. */
const MAX_AGE_MS = 60_000;
/** How old a list may be if the wanted row is not in it, in milliseconds. */
const FRESH_MS = 1000;
/** How long a failed list is not fetched again, in milliseconds: a call reads it more than once. */
const FAILED_MS = 1000;
const MAX_LISTS = 40_000;
const MAX_PAGES = 1000;
const MAX_ROWS = 10_000;

interface ListBounds {
  readonly timeoutMs: number;
  /** The most characters of JSON in one list. Default: 16 Mi. */
  readonly maxLength?: number;
  /** The most characters of JSON in all lists. Default: 64 Mi. */
  readonly maxTotalLength?: number;
}

/** Uses no caller's signal: several callers may wait for the same page. */
type FetchPage = (cursor: string | undefined) => Promise<Result>;

interface KnownList {
  readonly at: number;
  length: number;
  failedAt?: number;
  isEvicted?: boolean;
  pages: Promise<readonly Result[]>;
  /** The pages, once they are here. */
  done?: readonly Result[];
}

/** The view of lists with the cache scope `public`. */
const PUBLIC = '';

/** Caches whole lists of a backend. Callers with the same view see the same lists. */
export class KnownLists {
  private readonly bounds: Required<ListBounds>;
  private readonly lists: LRUCache<string, KnownList>;

  constructor(bounds: ListBounds) {
    this.bounds = { maxLength: 16 * 1024 * 1024, maxTotalLength: 64 * 1024 * 1024, ...bounds };
    this.lists = new LRUCache({
      max: MAX_LISTS,
      maxSize: this.bounds.maxTotalLength,
      sizeCalculation: ({ length }) => length + 1,
      dispose: (list, _, reason) => (list.isEvicted = reason === 'evict'),
    });
  }

  /**
   * @param fresh whether the list must have been fetched within the last second
   * @returns a promise only if the list is not here yet
   * @throws Error for a list that is endless or too large
   */
  pages(
    view: string,
    method: ListMethod,
    fetch: FetchPage,
    fresh = false,
  ): readonly Result[] | Promise<readonly Result[]> {
    const key = keyOf(view, method);
    const known = [key, keyOf(PUBLIC, method)]
      .map(one => this.lists.get(one))
      .find(one => isCurrent(one, fresh));
    if (known) return known.done ?? known.pages;
    const list = { at: Date.now(), length: 0 } as KnownList;
    this.lists.set(key, list);
    list.pages = this.fetchAll(key, list, method, fetch);
    list.pages.then(
      pages => {
        list.done = pages;
        const isPublic = pages.every(({ cacheScope }) => cacheScope === 'public');
        if (isPublic && this.remove(key, list)) this.lists.set(keyOf(PUBLIC, method), list);
      },
      () => {
        list.failedAt = Date.now();
        list.length = 0;
        if (this.remove(key, list)) this.lists.set(key, list);
      },
    );
    return list.pages;
  }

  /** Forgets one list of a view, and the public one. */
  forgetList(view: string, method: ListMethod): void {
    for (const one of [view, PUBLIC]) this.lists.delete(keyOf(one, method));
  }

  /** Without a view, forgets all lists. */
  forget(view?: string): void {
    if (view === undefined) return this.lists.clear();
    for (const method of DISPATCHED.filter(isList)) this.lists.delete(keyOf(view, method));
  }

  /** Returns false if the list was forgotten or replaced meanwhile. */
  private remove(key: string, list: KnownList): boolean {
    return this.lists.peek(key) === list && this.lists.delete(key);
  }

  private async fetchAll(
    key: string,
    list: KnownList,
    method: ListMethod,
    fetch: FetchPage,
  ): Promise<Result[]> {
    const { timeoutMs, maxLength, maxTotalLength } = this.bounds;
    const pages: Result[] = [];
    let cursor: unknown;
    let rows = 0;
    do {
      const page = await fetch(cursor as string | undefined);
      pages.push(page);
      rows += rowsOf(method, page).length;
      cursor = page['nextCursor'];
      list.length += JSON.stringify(page).length;
      if (list.length > maxLength) throw new Error(`${method} is larger than ${maxLength} characters`);
      // The cache reads the size only of a new entry.
      if (this.remove(key, list)) this.lists.set(key, list);
      if (list.isEvicted) throw new Error(`The lists are larger than ${maxTotalLength} characters`);
      if (typeof cursor !== 'string') return pages;
      if (pages.length >= MAX_PAGES || rows >= MAX_ROWS) {
        throw new Error(`${method} has more than ${MAX_PAGES} pages or ${MAX_ROWS} rows`);
      }
    } while (Date.now() - list.at <= timeoutMs);
    throw new SdkError(SdkErrorCode.RequestTimeout, `${method} took too long`);
  }
}

const keyOf = (view: string, method: string): string => `${method} ${view}`;

function isCurrent(list: KnownList | undefined, fresh: boolean): boolean {
  if (list?.failedAt !== undefined) return Date.now() - list.failedAt < FAILED_MS;
  return list !== undefined && Date.now() - list.at < (fresh ? FRESH_MS : MAX_AGE_MS);
}
