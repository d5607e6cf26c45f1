import type { Result } from '@modelcontextprotocol/server';

/** A list in pages. A page is always the same object. */
export interface Pages {
  /** Undefined for an unknown cursor. */
  page(cursor?: string): Result | undefined;
  pageWith(has: (items: readonly object[]) => boolean): Result | undefined;
}

/** @param member the member of the result that holds the items */
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
