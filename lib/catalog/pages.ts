import type { Result } from '@modelcontextprotocol/server';

/** A list, cut into the pages that a list method answers with. A page is always the same object. */
export interface Pages {
  /** The page that a cursor names, the first without one; undefined for a cursor this list never gave out. */
  page(cursor?: string): Result | undefined;
  /** The first page that has what is looked for. */
  pageWith(has: (items: readonly object[]) => boolean): Result | undefined;
}

/**
 * Cuts a list once, so that a request only looks its page up.
 * @param member holds the items of a page
 */
export function paginate(member: string, all: readonly object[], pageSize: number): Pages {
  const pages = new Map<string | undefined, Result>();
  let cursor: string | undefined;
  for (let start = 0; start === 0 || start < all.length; start += pageSize) {
    const end = start + pageSize;
    const nextCursor = end < all.length ? Buffer.from(`item:${end}`).toString('base64url') : undefined;
    pages.set(cursor, { [member]: all.slice(start, end), ...(nextCursor !== undefined && { nextCursor }) });
    cursor = nextCursor;
  }
  return {
    page: name => pages.get(name),
    pageWith: has => [...pages.values()].find(page => has(page[member] as object[])),
  };
}
