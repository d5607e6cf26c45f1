import type { Result } from '@modelcontextprotocol/server';
import { unlessAborted } from '../util/abort.js';
import type { Params } from '../protocol/mcp-call.js';
import type { McpCall } from '../protocol/mcp-call.js';
import { toClientError } from './backend-error.js';
import { resultFor } from './caller-params.js';
import { KnownLists } from './known-lists.js';
import { rowsOf, type ListMethod, type Row } from '../protocol/methods.js';

export interface CallerListsOptions {
  readonly onFailure: (thrown: unknown) => void;
  readonly timeoutMs: number;
  /** Callers with the same key see the same lists. */
  readonly viewOf: (exchange: McpCall) => string;
  readonly fetch: (method: ListMethod, params: Params, exchange: McpCall) => Promise<Result>;
}

export class CallerLists {
  private readonly known: KnownLists;

  constructor(private readonly options: CallerListsOptions) {
    this.known = new KnownLists({ timeoutMs: options.timeoutMs });
  }

  async pages(method: ListMethod, exchange: McpCall, fresh = false): Promise<readonly Result[]> {
    const { onFailure, fetch, viewOf } = this.options;
    const { signal } = exchange.reply;
    const detached = detachedFrom(exchange);
    const pages = this.known.pages(
      viewOf(exchange),
      method,
      cursor => fetch(method, cursor === undefined ? {} : { cursor }, detached),
      fresh,
    );
    try {
      return (await unlessAborted(pages, signal)).map(page => resultFor(exchange.era, page));
    } catch (error) {
      throw toClientError(error, onFailure, signal);
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
    this.known.forgetList(this.options.viewOf(exchange), 'tools/list');
  }

  forget(view?: string): void {
    this.known.forget(view);
  }
}

/** The caller without the call: a shared list has no signal, answers, progress or log of one request. */
function detachedFrom(exchange: McpCall): McpCall {
  const { inputResponses: _answers, meta: { progressToken: _token, ...meta } = {}, ...caller } = exchange;
  return { ...caller, meta, requestState: undefined, reply: { signal: NEVER, notify: nowhere } };
}

const NEVER = new AbortController().signal;

const nowhere = (): Promise<void> => Promise.resolve();
