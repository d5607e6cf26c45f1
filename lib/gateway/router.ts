import { Logger } from '@nestjs/common';
import type { Result } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { DispatchedMethod, Params } from '../server/dispatcher.js';
import type { Exchange } from '../server/exchange.js';
import type { Backend } from './backend.js';
import { decodeCursor, encodeCursor, JoinedPage, type Position } from './joined-page.js';
import { LISTS, rowsOf, type ListMethod } from './methods.js';
import { prefixed, renamed, withoutPrefix } from './names.js';
import { targetOf, type Target } from './target.js';

/** The backend that answers a request, and the params it gets. */
export interface Route {
  readonly backend: Backend;
  readonly params: Params;
}

/** Finds the backend of a request, by the prefix of a name or by who lists a resource. */
export class Router {
  private readonly logger = new Logger('McpGateway');

  /** @param listTimeoutMs how long the backends may take for one joined page, in milliseconds */
  constructor(
    private readonly backends: readonly Backend[],
    private readonly listTimeoutMs: number,
  ) {}

  /** The backend of a gateway without prefixes. */
  private get only(): Backend | undefined {
    return this.backends.find(({ prefix }) => prefix === undefined);
  }

  /** @throws McpException for what no backend has, or several have */
  async route(
    method: Exclude<DispatchedMethod, ListMethod>,
    params: Params,
    exchange: Exchange,
  ): Promise<Route> {
    const { only } = this;
    if (only) return { backend: only, params };
    const target = targetOf(method, params);
    if (!target.isNamed) return { backend: await this.ownerOf(target, exchange), params };
    for (const backend of this.backends) {
      const own = withoutPrefix(backend.prefix, target.id);
      if (own !== undefined) return { backend, params: renamed(params, own) };
    }
    throw target.unknown;
  }

  /** One page of a list: the only backend's own page, or one that joins pages of several backends. */
  async list(method: ListMethod, params: Params, exchange: Exchange): Promise<Result> {
    const { only, backends } = this;
    if (only) return only.request(method, params, exchange);
    const start = decodeCursor(params['cursor'], backends.length);
    // On every page: a client may begin with any cursor.
    await this.assertDistinct(method, exchange);
    const until = Date.now() + this.listTimeoutMs;
    // All first pages are fetched at the same time: silent backends keep the others waiting only once.
    const firstPages = backends.slice(start.index).map((_, offset) => {
      const at = offset === 0 ? start : { index: start.index + offset };
      const page = this.page(at, method, params, exchange);
      page.catch(() => undefined);
      return page;
    });
    const joined = new JoinedPage(method);
    let at: Position | undefined = start;
    while (at && !joined.isFull) {
      const isFirst = at === start || at.cursor === undefined;
      if (!isFirst && !joined.isEmpty && Date.now() > until) break;
      try {
        const page: Result | undefined = await (isFirst
          ? firstPages[at.index - start.index]
          : this.page(at, method, params, exchange));
        if (page && !joined.add(page)) break;
        at = this.after(at, page);
      } catch (error) {
        // The request for the next page gets the error.
        if (joined.isEmpty || exchange.signal.aborted) throw error;
        break;
      }
    }
    return { ...joined.result, ...(at && { nextCursor: encodeCursor(at) }) };
  }

  private after({ index }: Position, page: Result | undefined): Position | undefined {
    const { nextCursor } = page ?? {};
    if (typeof nextCursor === 'string') return { index, cursor: nextCursor };
    return index + 1 < this.backends.length ? { index: index + 1 } : undefined;
  }

  /** One page of one backend; undefined if the backend is down. */
  private async page(
    { index, cursor }: Position,
    method: ListMethod,
    { cursor: _, ...params }: Params,
    exchange: Exchange,
  ): Promise<Result | undefined> {
    const backend = this.backends[index];
    const sent = { ...params, ...(cursor !== undefined && { cursor }) };
    const page = await backend.ifUp(method, exchange, () => backend.request(method, sent, exchange));
    return page && prefixed(backend.prefix, method, page);
  }

  /** The backend that lists a resource with the best match. */
  private async ownerOf({ id, lookups, unknown }: Target, exchange: Exchange): Promise<Backend> {
    const ranks = await Promise.all(
      this.backends.map(backend =>
        backend.ifUp('resources/list', exchange, async () => {
          for (const [rank, { list, is }] of lookups.entries()) {
            if (await backend.lists.find(list, exchange, is)) return rank;
          }
          return undefined;
        }),
      ),
    );
    const best = Math.min(...ranks.filter(rank => rank !== undefined));
    const owners = this.backends.filter((_, index) => ranks[index] === best);
    if (owners.length > 1) throw this.collision(id, owners);
    if (owners.length === 0) throw unknown;
    return owners[0];
  }

  /** Resources keep their URIs, so two backends must not list the same. */
  private async assertDistinct(method: ListMethod, exchange: Exchange): Promise<void> {
    const { key } = LISTS[method];
    if (key === 'name') return;
    const known = await Promise.all(
      this.backends.map(backend =>
        backend.ifUp(method, exchange, () => backend.lists.pages(method, exchange)),
      ),
    );
    const owners = new Map<unknown, Backend>();
    for (const [index, backend] of this.backends.entries()) {
      for (const { [key]: uri } of (known[index] ?? []).flatMap(page => rowsOf(method, page))) {
        const owner = owners.get(uri);
        if (owner && owner !== backend) throw this.collision(String(uri), [owner, backend]);
        owners.set(uri, backend);
      }
    }
  }

  private collision(uri: string, owners: readonly Backend[]): McpException {
    const names = owners.map(({ prefix }) => `"${prefix}"`).join(' and ');
    const message = `The resource ${uri.slice(0, 200)} is of two backends, ${names}`;
    this.logger.error(message);
    return new McpException(McpErrorCode.InternalError, message);
  }
}
