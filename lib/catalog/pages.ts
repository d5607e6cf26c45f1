/** A list, cut into the pages that a list method answers with. */
export interface Pages<T> {
  /** The page that a cursor names, the first without one; undefined for a cursor this list never gave out. */
  page(cursor?: string): Page<T> | undefined;
  pageWith(has: (items: readonly T[]) => boolean): Page<T> | undefined;
}

export interface Page<T> {
  readonly items: T[];
  readonly nextCursor?: string;
}

/** Cuts a list once, so that a request only looks its page up. */
export function paginate<T>(all: T[], pageSize: number): Pages<T> {
  const pages = new Map<string | undefined, Page<T>>();
  let cursor: string | undefined;
  for (let start = 0; start === 0 || start < all.length; start += pageSize) {
    const end = start + pageSize;
    const nextCursor = end < all.length ? Buffer.from(`item:${end}`).toString('base64url') : undefined;
    pages.set(cursor, { items: all.slice(start, end), ...(nextCursor !== undefined && { nextCursor }) });
    cursor = nextCursor;
  }
  return {
    page: name => pages.get(name),
    pageWith: has => [...pages.values()].find(({ items }) => has(items)),
  };
}
