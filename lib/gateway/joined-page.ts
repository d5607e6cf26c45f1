import type { Result } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { listOf, rowsOf, type ListMethod, type Row } from '../protocol/methods.js';

const MAX_ROWS = 1000;
const MAX_LENGTH = 1024 * 1024;
const MAX_PAGES = 100;

export interface Position {
  readonly index: number;
  readonly cursor?: string;
}

export const encodeCursor = ({ index, cursor }: Position): string =>
  Buffer.from(JSON.stringify([index, cursor])).toString('base64url');

/** @throws McpException (-32602) for a cursor that was not issued here */
export function decodeCursor(text: unknown, count: number): Position {
  if (text === undefined) return { index: 0 };
  try {
    const [index, cursor] = JSON.parse(Buffer.from(text as string, 'base64url').toString()) as [
      number,
      unknown,
    ];
    const isIndex = Number.isSafeInteger(index) && index >= 0 && index < count;
    if (isIndex && cursor === null) return { index };
    if (isIndex && typeof cursor === 'string') return { index, cursor };
  } catch {
    // Refused below.
  }
  throw new McpException(McpErrorCode.InvalidParams, 'Unknown cursor');
}

/** A page of a list, joined from pages of several backends. A backend page above the bounds is not split. */
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

  /** Has the shortest `ttlMs` and the narrowest `cacheScope` of its parts. */
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
      [listOf(this.method).lists]: this.rows,
    };
  }
}
