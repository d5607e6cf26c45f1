import { Logger } from '@nestjs/common';
import type { Result } from '@modelcontextprotocol/server';
import type { Listing } from '../protocol/listings.js';
import { AuthChallenge } from '../exceptions/auth-challenge.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { logLine } from '../util/log-line.js';
import type { Backend } from './backend.js';
import type { ListDeadlines } from './caller-waits.js';
import { decodeCursor, encodeCursor, JoinedPage, type Position } from './joined-page.js';
import { listOf, rowsOf, type ListMethod, type NamingMethod } from '../protocol/methods.js';
import { prefixed, renamed, targetOf, withoutPrefix, type Target } from './target.js';

export interface Route {
  readonly backend: Backend;
  readonly params: Params;
}

export interface Reached {
  readonly backends: readonly Backend[];
  readonly problem?: Error;
}

/** Finds the backend of a request, by the prefix of a name or by who lists a resource. */
export class BackendSet {
  private readonly logger: Logger;
  /** The URIs of several backends that are in the log. */
  private readonly warned = new Set<string>();

  constructor(
    readonly all: readonly Backend[],
    private readonly deadlines: ListDeadlines,
    gateway: string,
  ) {
    this.logger = new Logger(`McpGateway(${gateway})`);
  }

  /** Waits until each backend is known or cannot be reached; for as long as that takes if there is only one. */
  async reach(backends: readonly Backend[], signal: AbortSignal, isOnly: boolean): Promise<Reached> {
    const results = await Promise.allSettled(
      backends.map(backend => (isOnly ? backend.ready(signal) : backend.readySoon(signal))),
    );
    return {
      backends: backends.filter((_, index) => results[index].status === 'fulfilled'),
      problem: results.find(one => one.status === 'rejected')?.reason as Error | undefined,
    };
  }

  /** @throws McpException if no backend has the target */
  async route(method: NamingMethod, params: Params, exchange: McpCall): Promise<Route> {
    const { only } = this;
    if (only) return { backend: only, params };
    const target = targetOf(method, params);
    if (!target.isNamed) return { backend: await this.ownerOf(target, exchange), params };
    for (const backend of this.all) {
      const own = withoutPrefix(backend.prefix, target.id);
      if (own !== undefined) return { backend, params: renamed(params, own) };
    }
    throw target.unknown;
  }

  async list(method: ListMethod, params: Params, exchange: McpCall): Promise<Result> {
    const { only, all } = this;
    if (only) return only.request(method, params, exchange);
    const start = decodeCursor(params['cursor'], all.length);
    const owners = await this.ownersIn(method, exchange);
    const pageAt = async (at: Position) => {
      const page = await this.page(at, method, params, exchange);
      return page && ownRows(method, page, owners, this.all[at.index]);
    };
    // All first pages are fetched at the same time: silent backends keep the others waiting only once.
    const firstPages = all.slice(start.index).map((_, offset) => {
      const at = offset === 0 ? start : { index: start.index + offset };
      const page = pageAt(at);
      page.catch(() => undefined);
      return page;
    });
    const joined = new JoinedPage(method);
    let at: Position | undefined = start;
    while (at && !joined.isFull) {
      const isFirst = at === start || at.cursor === undefined;
      if (!isFirst && !joined.isEmpty && this.deadlines.isOver(exchange)) break;
      try {
        const page: Result | undefined = await (isFirst ? firstPages[at.index - start.index] : pageAt(at));
        if (page && !joined.add(page)) break;
        at = this.after(at, page);
      } catch (error) {
        // The request for the next page gets the error.
        if (joined.isEmpty || exchange.reply.signal.aborted) throw error;
        break;
      }
    }
    return { ...joined.result, ...(at && { nextCursor: encodeCursor(at) }) };
  }

  /** The page that shows a target to its caller, or an empty page: an interceptor that hides the row forbids the call. */
  async listingOf(method: NamingMethod, params: Params, exchange: McpCall): Promise<Listing> {
    const { id, isNamed, lookups, unknown: refusal } = targetOf(method, params);
    const owners = this.all.filter(({ prefix }) => !isNamed || withoutPrefix(prefix, id) !== undefined);
    const { backends, problem } = await this.reach(owners, exchange.reply.signal, owners.length === 1);
    for (const fresh of [false, true]) {
      for (const { list, is } of lookups) {
        for (const backend of backends.filter(one => one.offers(list))) {
          for (const page of await backend.lists.pages(list, exchange, fresh)) {
            const result = prefixed(backend.prefix, list, page);
            const count = rowsOf(list, result).filter(is).length;
            // If several rows match, interceptors must not hide any of them.
            const isShown = (shown: unknown) => rowsOf(list, shown).filter(is).length >= count;
            if (count > 0) return { method: list, result, isShown, refusal };
          }
        }
      }
    }
    // The backend may come up before the call: a target that its list hides could be used.
    if (problem) throw problem;
    // A backend may serve a target that it does not list, or know another spelling of a hidden URI.
    const [{ list, is }] = lookups;
    const isShown = (shown: unknown) => rowsOf(list, shown).some(is);
    return { method: list, result: { [listOf(list).lists]: [] }, isShown, refusal };
  }

  /** The backend of a gateway without prefixes. */
  private get only(): Backend | undefined {
    return this.all.find(({ prefix }) => prefix === undefined);
  }

  private after({ index }: Position, { nextCursor }: Result = {}): Position | undefined {
    if (typeof nextCursor === 'string') return { index, cursor: nextCursor };
    return index + 1 < this.all.length ? { index: index + 1 } : undefined;
  }

  private async page(
    { index, cursor }: Position,
    method: ListMethod,
    { cursor: _, ...params }: Params,
    exchange: McpCall,
  ): Promise<Result | undefined> {
    const backend = this.all[index];
    const sent = { ...params, ...(cursor !== undefined && { cursor }) };
    const page = await backend.ifUp(method, exchange, () => backend.request(method, sent, exchange));
    return page && prefixed(backend.prefix, method, page);
  }

  /** The first backend that lists a resource with the best match. */
  private async ownerOf({ id, lookups, unknown }: Target, exchange: McpCall): Promise<Backend> {
    let failure: Error | undefined;
    const rankAt = async (backend: Backend) => {
      for (const [rank, { list, is }] of lookups.entries()) {
        if (await backend.lists.find(list, exchange, is)) return rank;
      }
      return undefined;
    };
    const ranks = await Promise.all(
      this.all.map(backend =>
        backend.ifUp('resources/list', exchange, () =>
          rankAt(backend).catch((error: Error) => {
            if (!(error instanceof AuthChallenge)) failure ??= error;
            throw error;
          }),
        ),
      ),
    );
    const best = Math.min(...ranks.filter(rank => rank !== undefined));
    const [owner, other] = this.all.filter((_, index) => ranks[index] === best);
    // A list that failed or is late may have the resource.
    if (!owner) throw failure ?? unknown;
    if (other) this.warnOnce(id, owner, other);
    return owner;
  }

  /** Resources keep their URIs, so the first backend with a URI keeps it. Names have prefixes, and need no owners. */
  private async ownersIn(method: ListMethod, exchange: McpCall): Promise<ReadonlyMap<unknown, Backend>> {
    const owners = new Map<unknown, Backend>();
    const { key } = listOf(method);
    if (key === 'name') return owners;
    const known = await Promise.all(
      this.all.map(backend => backend.ifUp(method, exchange, () => backend.lists.pages(method, exchange))),
    );
    for (const [index, backend] of this.all.entries()) {
      for (const { [key]: uri } of (known[index] ?? []).flatMap(page => rowsOf(method, page))) {
        const owner = owners.get(uri) ?? backend;
        if (owner !== backend) this.warnOnce(String(uri), owner, backend);
        owners.set(uri, owner);
      }
    }
    return owners;
  }

  private warnOnce(uri: string, owner: Backend, other: Backend): void {
    const what = uri.slice(0, MAX_LOGGED);
    if (this.warned.has(what) || this.warned.size >= MAX_WARNINGS) return;
    this.warned.add(what);
    this.logger.warn(
      `The backend "${other.prefix}" has the resource ${logLine(what)} of the backend "${owner.prefix}", which keeps it, as it comes first in "backends"`,
    );
  }
}

/** The rows of a page whose URIs no earlier backend has. */
function ownRows(
  method: ListMethod,
  page: Result,
  owners: ReadonlyMap<unknown, Backend>,
  backend: Backend,
): Result {
  if (owners.size === 0) return page;
  const { key, lists } = listOf(method);
  return {
    ...page,
    [lists]: rowsOf(method, page).filter(row => (owners.get(row[key]) ?? backend) === backend),
  };
}

const MAX_WARNINGS = 1000;
/** The most characters of a URI in the log. */
const MAX_LOGGED = 200;
