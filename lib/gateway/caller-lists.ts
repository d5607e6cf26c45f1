import type { Result } from '@modelcontextprotocol/server';
import { unlessAborted } from '../client/unless-aborted.js';
import type { Params } from '../server/dispatcher.js';
import type { Exchange } from '../server/exchange.js';
import { toClientError } from './backend-error.js';
import { resultFor } from './caller-params.js';
import { callerKey, type ConnectionManager } from './connection-manager.js';
import { KnownLists, rowsOf, type ListMethod, type Row } from './known-lists.js';
import type { SessionConnection } from './session-connection.js';

export interface CallerListsOptions {
  /** Logs that the backend failed. */
  readonly onFailure: (thrown: unknown) => void;
  /** How long one list may take to come in, in milliseconds. */
  readonly timeoutMs: number;
  readonly connections: ConnectionManager;
  /** Asks the backend for a page, and gives it as it is. */
  readonly fetch: (method: ListMethod, params: Params, exchange: Exchange) => Promise<Result>;
}

/** The lists of a backend, as each of its callers sees them. */
export class CallerLists {
  private readonly known: KnownLists;

  constructor(private readonly options: CallerListsOptions) {
    this.known = new KnownLists({ timeoutMs: options.timeoutMs });
  }

  /**
   * All pages of a list.
   * @param fresh whether it must have been fetched just now
   * @throws McpException, or the backend's own `ProtocolError`
   */
  async pages(method: ListMethod, exchange: Exchange, fresh = false): Promise<readonly Result[]> {
    const {
      signal,
      inputResponses: _answers,
      meta: { progressToken: _token, ...meta } = {},
      ...caller
    } = exchange;
    // What a client answers is for the call that asked, which would be gone on with; and it asked for no list.
    const detached: Exchange = {
      ...caller,
      meta,
      requestState: () => undefined,
      signal: NEVER,
      notify: nowhere,
      log: nowhere,
    };
    const { onFailure, fetch } = this.options;
    const pages = this.known.pages(
      this.viewOf(exchange),
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

  /** A row of a list, looked for once more in a fresh one. */
  async find(method: ListMethod, exchange: Exchange, is: (row: Row) => boolean): Promise<Row | undefined> {
    for (const fresh of [false, true]) {
      for (const page of await this.pages(method, exchange, fresh)) {
        const row = rowsOf(method, page).find(is);
        if (row) return row;
      }
    }
    return undefined;
  }

  /** Has the tools listed anew before the next call, so that its headers are those of what its caller was shown last. */
  relist(exchange: Exchange): void {
    this.known.forgetList(this.viewOf(exchange), 'tools/list');
  }

  /** Forgets what a session was shown; without one, what all were. */
  forget(session?: SessionConnection): void {
    this.known.forget(session);
  }

  private viewOf(exchange: Exchange): unknown {
    const session = this.options.connections.known(exchange.channel);
    // What a client calls itself is not part of the key: it may use another name for each call.
    return session ?? callerKey(exchange);
  }
}

const NEVER = new AbortController().signal;

const nowhere = (): Promise<void> => Promise.resolve();
