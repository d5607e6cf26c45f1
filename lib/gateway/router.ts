import { Logger } from '@nestjs/common';
import { ResourceNotFoundError, type Result } from '@modelcontextprotocol/server';
import { compileUriTemplate } from '../catalog/uri-template.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { Params } from '../protocol/mcp-call.js';
import type { McpCall } from '../protocol/mcp-call.js';
import { asObject, requireString, requireUri } from '../server/params.js';
import { unknownPrompt, unknownTool } from '../server/unknown.js';
import type { Backend } from './backend.js';
import { BackendDownError } from './backend-error.js';
import { decodeCursor, encodeCursor, type Position } from './cursors.js';
import { JoinedPage } from './joined-page.js';
import { rowsOf, type ListMethod, type Row } from './known-lists.js';
import { prefixed, renamed, withoutPrefix } from './names.js';

/** Which backend answers a request, and what it is asked. */
export interface Route {
  readonly backend: Backend;
  readonly params: Params;
}

/** Finds the backend of a request, by the prefix of a name or by who lists a resource. */
export class Router {
  private readonly logger = new Logger('McpGateway');

  /** @param listTimeoutMs how long the pages of the backends that one page is made of may take, in milliseconds */
  constructor(
    private readonly backends: readonly Backend[],
    private readonly listTimeoutMs: number,
  ) {}

  /** The only backend, where there is but one. */
  private get only(): Backend | undefined {
    return this.backends.length === 1 && this.backends[0].prefix === undefined ? this.backends[0] : undefined;
  }

  /** @throws McpException for what no backend has, or more than one */
  async route(method: string, params: Params, exchange: McpCall): Promise<Route> {
    const { only } = this;
    if (only) return { backend: only, params };
    switch (method) {
      case 'tools/call':
        return this.byName(params, requireString(params, 'name'), unknownTool);
      case 'prompts/get':
        return this.byName(params, requireString(params, 'name'), unknownPrompt);
      case 'completion/complete': {
        const ref = asObject(params['ref'], 'ref');
        if (ref['type'] === 'ref/prompt')
          return this.byName(params, requireString(ref, 'name'), unknownPrompt);
        const uri = requireString(ref, 'uri');
        const isIt = (row: Row) => row['uriTemplate'] === uri || row['uri'] === uri;
        return { backend: await this.ownerOf(uri, exchange, isIt), params };
      }
      default: {
        const uri = requireUri(params);
        return { backend: await this.ownerOf(uri, exchange, row => shows(row, uri)), params };
      }
    }
  }

  /** One page of a list: the backend's own, or as much of the lists of several as a page holds. */
  async list(method: ListMethod, params: Params, exchange: McpCall): Promise<Result> {
    const { only, backends } = this;
    if (only) return only.request(method, params, exchange);
    const start = decodeCursor(params['cursor'], backends.length);
    // Whatever page it is: a cursor says where to begin, not that anybody has begun.
    await this.assertDistinct(method, exchange);
    const ask = ({ index, cursor }: Position) => this.page(backends[index], method, params, cursor, exchange);
    const until = Date.now() + this.listTimeoutMs;
    // All at the same time, so that several that are silent do not keep the others waiting one after another.
    const asked = new Map(
      backends.slice(start.index).map((_, offset) => {
        const page = ask(offset === 0 ? start : { index: start.index + offset });
        page.catch(() => undefined);
        return [start.index + offset, page];
      }),
    );
    const joined = new JoinedPage(method);
    let at: Position | undefined = start;
    while (at && !joined.isFull) {
      const first = asked.get(at.index);
      asked.delete(at.index);
      if (!first && !joined.isEmpty && Date.now() > until) break;
      try {
        const page: Result | undefined = await (first ?? ask(at));
        if (page && !joined.add(page)) break;
        at = this.after(at, page);
      } catch (error) {
        // Who asks for the next page is told.
        if (joined.isEmpty || exchange.reply.signal.aborted) throw error;
        break;
      }
    }
    return { ...joined.result, ...(at && { nextCursor: encodeCursor(at) }) };
  }

  /** Where a list goes on after a page of a backend. */
  private after({ index }: Position, page: Result | undefined): Position | undefined {
    const { nextCursor } = page ?? {};
    if (typeof nextCursor === 'string') return { index, cursor: nextCursor };
    return index + 1 < this.backends.length ? { index: index + 1 } : undefined;
  }

  private byName(params: Params, name: string, unknown: (name: string) => McpException): Route {
    for (const backend of this.backends) {
      const own = withoutPrefix(backend.prefix, name);
      if (own !== undefined) return { backend, params: renamed(params, own) };
    }
    throw unknown(name);
  }

  /** A page of one of several; a backend that is down shows nothing, and the others go on. */
  private async page(
    backend: Backend,
    method: ListMethod,
    { cursor: _, ...params }: Params,
    cursor: string | undefined,
    exchange: McpCall,
  ): Promise<Result | undefined> {
    const sent = { ...params, ...(cursor !== undefined && { cursor }) };
    const page = await this.ifUp(backend, method, exchange, () => backend.request(method, sent, exchange));
    return page && prefixed(backend.prefix, method, page);
  }

  /** Asks a backend for a list; undefined where it has none, or is down. Once it is up again, clients are told. */
  private async ifUp<T>(
    backend: Backend,
    method: ListMethod,
    { reply: { signal } }: McpCall,
    ask: () => Promise<T>,
  ): Promise<T | undefined> {
    let isKnown = false;
    try {
      await backend.readySoon(signal);
      isKnown = true;
      return backend.offers(method) ? await ask() : undefined;
    } catch (error) {
      if (signal.aborted || (isKnown && !(error instanceof BackendDownError))) throw error;
      backend.keepTrying();
      return undefined;
    }
  }

  /** Who lists a resource, or else a template that it is of. */
  private async ownerOf(uri: string, exchange: McpCall, is: (row: Row) => boolean): Promise<Backend> {
    const rows = await Promise.all(
      this.backends.map(backend =>
        this.ifUp(
          backend,
          'resources/list',
          exchange,
          async () =>
            (await backend.lists.find('resources/list', exchange, is)) ??
            (await backend.lists.find('resources/templates/list', exchange, is)),
        ),
      ),
    );
    const having = this.backends.filter((_, index) => rows[index]);
    // Who lists the URI itself has it: a template may be of others' too.
    const listing = this.backends.filter((_, index) => rows[index]?.['uri'] !== undefined);
    const owners = listing.length > 0 ? listing : having;
    if (owners.length > 1) throw this.collision(uri, owners);
    if (owners.length === 0) throw new ResourceNotFoundError(uri);
    return owners[0];
  }

  /** Resources keep their URIs, and so can be of one backend only. */
  private async assertDistinct(method: ListMethod, exchange: McpCall): Promise<void> {
    const key = KEYS[method];
    if (key === undefined) return;
    const known = await Promise.all(
      this.backends.map(backend =>
        this.ifUp(backend, method, exchange, () => backend.lists.pages(method, exchange)),
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

const KEYS: Partial<Record<ListMethod, string>> = {
  'resources/list': 'uri',
  'resources/templates/list': 'uriTemplate',
};

/** Whether a row of a resource list, or of a template list, stands for a URI. */
export function shows({ uri: own, uriTemplate }: Row, uri: string): boolean {
  if (typeof uriTemplate !== 'string') return own === uri;
  try {
    return compileUriTemplate(uriTemplate).match(uri) !== undefined;
  } catch {
    // A template that this process does not understand.
    return false;
  }
}
