import { HttpException, Logger } from '@nestjs/common';
import type { Result } from '@modelcontextprotocol/server';
import type { Catalog, Pages } from '../catalog/catalog.js';
import type { Entry } from '../catalog/entries.js';
import type { AuthChallenge } from '../exceptions/auth-challenge.js';
import { McpContext } from '../execution/mcp-context.js';
import type { Authorizer, Bearer, HandlerAccess } from '../protocol/access.js';
import type { Stage } from '../protocol/answer.js';
import type { ChangeNotifier } from '../protocol/changes.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { isList, type ListMethod } from '../protocol/methods.js';
import { CallerLists } from './caller-lists.js';
import { namedIn, type Named } from './named-entries.js';
import { allowedTools, toolAccessOf, type ScopesOf } from './tool-scopes.js';

const logger = new Logger('McpModule');

interface AccessOptions {
  readonly catalog: () => Catalog;
  readonly changes: ChangeNotifier;
  /** Undefined without `McpAuthModule`: then only `@Visible` decides. */
  readonly authorizer?: Authorizer;
  /** The scopes of tools whose handlers are behind a gateway. */
  readonly toolScopes?: ScopesOf;
}

/**
 * Decides what a caller sees and may use on a server: first by `@Visible`, then by the scopes of the caller's token.
 */
export class Access {
  /** The decisions of `@Visible` about handlers, for each request. */
  private readonly shown = new WeakMap<object, Map<Entry, Promise<boolean>>>();
  private readonly lists = new WeakMap<Catalog, CallerLists>();

  constructor(private readonly options: AccessOptions) {}

  get authorizer(): Authorizer | undefined {
    return this.options.authorizer;
  }

  /** Refuses a forbidden call before other work starts. A call of a hidden handler continues, and fails as unknown. */
  readonly stage: Stage = next => (call, params) => {
    if (isList(call.method)) return this.listed(next(call, params), call);
    const asking = this.assertAllowed(call, params);
    return asking ? asking.then(() => next(call, params)) : next(call, params);
  };

  /**
   * The handler that a call names, or undefined if it is hidden from the caller. Returns a promise only if guards must
   * run.
   * @throws AuthChallenge if the caller may not use it
   */
  admitted<E extends Entry>(entry: E | undefined, call: McpCall): E | undefined | Promise<E | undefined> {
    const shows = entry && this.shows(entry, call);
    if (shows instanceof Promise)
      return shows.then(isShown => (isShown ? this.allowed(entry!, call) : undefined));
    return shows ? this.allowed(entry, call) : undefined;
  }

  /** The first of these handlers that the caller sees. Returns a promise only if a guard has to decide. */
  firstShown(entries: readonly Entry[], call: McpCall): Entry | undefined | Promise<Entry | undefined> {
    const [entry, ...others] = entries;
    if (!entry) return undefined;
    const shows = this.shows(entry, call);
    if (shows instanceof Promise) {
      return shows.then(isShown => (isShown ? entry : this.firstShown(others, call)));
    }
    return entry;
  }

  /** Whether `@Visible` shows a handler to a caller. Each guard runs once for each handler and request. */
  shows(entry: Entry, call: McpCall): boolean | Promise<boolean> {
    if (!entry.run.shows) return true;
    const request = call.http?.request ?? call.params;
    const known = this.shown.get(request) ?? new Map<Entry, Promise<boolean>>();
    this.shown.set(request, known);
    const verdict = known.get(entry) ?? this.ask(entry, call);
    known.set(entry, verdict);
    return verdict;
  }

  /** The pages of a list that the caller sees. */
  pages(method: ListMethod, call: McpCall): Pages | Promise<Pages> {
    const lists = this.listsOf(this.options.catalog());
    return lists.pages(method, call, entry => this.shows(entry, call));
  }

  /** Whether a caller without a token may use any handler. */
  get servesAnonymous(): boolean {
    const { authorizer, catalog } = this.options;
    return !authorizer || this.listsOf(catalog()).servesAnonymous;
  }

  /** Creates the refusal of a request without a token. It does not name scopes of handlers with `@Visible`. */
  unauthorized(requests: readonly { method: string; params?: Params }[], bearer: Bearer): AuthChallenge {
    const catalog = this.options.catalog();
    const { toolScopes } = this.options;
    const scopes = requests.flatMap(({ method, params = {} }) => [
      ...scopesShown(namedIn(catalog, method, params)),
      ...(toolAccessOf(toolScopes, method, params)?.scopes ?? []),
    ]);
    return this.authorizer!.refusal([...new Set(scopes)], undefined, bearer);
  }

  /** @throws AuthChallenge if the caller may not make the call */
  assertAllowed(call: McpCall, params: Params): Promise<void> | undefined {
    this.assertToolAllowed(call, params);
    const { entries, completer } = namedIn(this.options.catalog(), call.method, params);
    const shown = this.firstShown(entries, call);
    if (completer || shown instanceof Promise) return this.assertShownAllowed(shown, completer, call);
    if (shown) this.allowed(shown, call);
    return undefined;
  }

  /** @throws AuthChallenge for a tool behind a gateway that the caller may not use */
  assertToolAllowed(call: McpCall, params: Params): void {
    const access = toolAccessOf(this.options.toolScopes, call.method, params);
    if (access) this.assertAdmits(access, call);
  }

  /** The completion of a hidden prompt or template is hidden, too. */
  private async assertShownAllowed(
    owner: Entry | undefined | Promise<Entry | undefined>,
    completer: Entry | undefined,
    call: McpCall,
  ): Promise<void> {
    const shown = await owner;
    if (!shown) return;
    this.allowed(shown, call);
    await this.admitted(completer, call);
  }

  /** Over stdio there are no tokens: the process that starts the server is trusted. */
  private allowed<E extends Entry>(entry: E, call: McpCall): E {
    this.assertAdmits(entry.access, call);
    return entry;
  }

  private assertAdmits(access: HandlerAccess | undefined, { authInfo, http }: McpCall): void {
    const { authorizer } = this.options;
    if (!authorizer || !http || authorizer.allows(access, authInfo)) return;
    throw authorizer.refusal(access?.scopes ?? [], authInfo, http);
  }

  /** The catalogue lists only handlers that the caller may use, but a gateway lists all tools of its backends. */
  private listed(page: Promise<Result>, call: McpCall): Promise<Result> {
    const { authorizer, toolScopes } = this.options;
    const isFiltered = toolScopes && call.http && call.method === 'tools/list';
    if (!isFiltered || authorizer?.lists !== 'allowed') return page;
    return page.then(result => allowedTools(result, call, toolScopes, authorizer));
  }

  private listsOf(catalog: Catalog): CallerLists {
    const known = this.lists.get(catalog) ?? new CallerLists(catalog, this.options.authorizer);
    this.lists.set(catalog, known);
    return known;
  }

  private async ask({ run, where }: Entry, call: McpCall): Promise<boolean> {
    try {
      return await run.shows!({ data: {}, context: new McpContext(call, this.options.changes) });
    } catch (error) {
      // Guards may also refuse with an exception.
      if (!(error instanceof HttpException))
        logger.warn(`${where} is hidden, because a guard of @Visible failed`, error);
      return false;
    }
  }
}

/** The scopes of the handlers that a caller without a token may learn of. */
function scopesShown({ entries, completer }: Named): readonly string[] {
  const owner = entries.find(({ run }) => !run.shows);
  const shown = owner && completer && !completer.run.shows ? [owner, completer] : [owner];
  return shown.flatMap(entry => entry?.access?.scopes ?? []);
}
