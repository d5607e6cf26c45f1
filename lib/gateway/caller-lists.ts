import type { Result } from '@modelcontextprotocol/server';
import { unlessAborted } from '../util/abort.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { toClientError } from './backend-error.js';
import { resultFor } from './caller-params.js';
import { KnownLists } from './known-lists.js';
import { rowsOf, type ListMethod, type Row } from '../protocol/methods.js';

export class CallerLists {
  private readonly known: KnownLists;

  /** @param viewOf callers with the same view see the same lists */
  constructor(
    timeoutMs: number,
    private readonly viewOf: (exchange: McpCall) => string,
    private readonly fetch: (method: ListMethod, params: Params, exchange: McpCall) => Promise<Result>,
    private readonly onFailure: (thrown: unknown) => void,
  ) {
    this.known = new KnownLists({ timeoutMs });
  }

  async pages(method: ListMethod, exchange: McpCall, fresh = false): Promise<readonly Result[]> {
    const { signal } = exchange.reply;
    const detached = detachedFrom(exchange);
    const pages = this.known.pages(
      this.viewOf(exchange),
      method,
      cursor => this.fetch(method, cursor === undefined ? {} : { cursor }, detached),
      fresh,
    );
    try {
      return (await unlessAborted(pages, signal)).map(page => resultFor(exchange.era, page));
    } catch (error) {
      throw toClientError(error, this.onFailure, signal);
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
    reply: { signal: NEVER, notify: () => Promise.resolve() },
  };
}

const NEVER = new AbortController().signal;
