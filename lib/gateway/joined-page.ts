import type { Result } from '@modelcontextprotocol/server';
import { LIST_MEMBERS, rowsOf, type ListMethod, type Row } from './known-lists.js';

/** The most rows of a page, its most characters of JSON, and the most pages of backends that it is made of. */
const MAX_ROWS = 1000;
const MAX_LENGTH = 1024 * 1024;
const MAX_PAGES = 100;

/** One page of a list, made of pages of several backends. A page of a backend that is larger than the bounds stays whole. */
export class JoinedPage {
  private readonly pages: Result[] = [];
  private readonly rows: Row[] = [];
  private length = 0;

  constructor(private readonly method: ListMethod) {}

  get isEmpty(): boolean {
    return this.pages.length === 0;
  }

  get isFull(): boolean {
    return this.pages.length >= MAX_PAGES || this.rows.length >= MAX_ROWS || this.length >= MAX_LENGTH;
  }

  /** Adds a page of a backend. Returns false if there is no room for it. */
  add({ nextCursor: _, ...page }: Result): boolean {
    const rows = rowsOf(this.method, page);
    const { length } = JSON.stringify(page);
    const fits = this.rows.length + rows.length <= MAX_ROWS && this.length + length <= MAX_LENGTH;
    if (!fits && !this.isEmpty) return false;
    this.pages.push(page);
    this.rows.push(...rows);
    this.length += length;
    return true;
  }

  /** The page: good for as long, and for as many callers, as the most careful backend says. */
  get result(): Result {
    const { pages } = this;
    if (pages.length === 1) return pages[0];
    const { ttlMs: _ttlMs, cacheScope: _cacheScope, ...first }: Result = pages[0] ?? {};
    const ttls = pages.map(({ ttlMs }) => ttlMs).filter(ttl => typeof ttl === 'number');
    const scopes = pages.map(({ cacheScope }) => cacheScope);
    const meta = pages.map(({ _meta }) => _meta).reverse();
    return {
      ...first,
      ...(meta.some(one => one) && { _meta: Object.assign({}, ...meta) as Result['_meta'] }),
      ...(ttls.length > 0 && ttls.length === pages.length && { ttlMs: Math.min(...ttls) }),
      ...(scopes.some(scope => scope) && {
        cacheScope: scopes.every(scope => scope === 'public') ? 'public' : 'private',
      }),
      [LIST_MEMBERS[this.method]]: this.rows,
    };
  }
}
