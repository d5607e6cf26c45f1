import { HttpException, Logger } from '@nestjs/common';
import type { Result } from '@modelcontextprotocol/server';
import type { Catalog, Pages } from '../catalog/catalog.js';
import type { Entry } from '../catalog/entries.js';
import type { AuthChallenge } from '../exceptions/auth-challenge.js';
import type { Hider } from '../execution/handler-pipeline.js';
import { McpContext } from '../execution/mcp-context.js';
import type { Authorizer, Bearer, HandlerAccess } from '../protocol/access.js';
import type { Stage } from '../protocol/answer.js';
import type { ChangeNotifier } from '../protocol/changes.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { isList, type ListMethod } from '../protocol/methods.js';
import { CallerLists } from './caller-lists.js';
import { namedIn, type Named } from './named-entries.js';
import { toolAccessOf, toolsShown, type ScopesOf } from './tool-scopes.js';

/** How long a failing guard is not reported again, in milliseconds. */
const QUIET_MS = 60_000;

interface AccessOptions {
  /** Name of the server, for the log. */
  readonly server: string;
  readonly catalog: () => Catalog;
  readonly changes: ChangeNotifier;
  /** Undefined without `McpAuthModule`: then only `@Visible` decides. */
  readonly authorizer?: Authorizer;
  /** The scopes of tools whose handlers are behind a gateway. */
  readonly toolScopes?: ScopesOf;
}

interface NamedRequest {
  readonly method: string;
  readonly params?: Params;
}

/** Decides what a caller sees and may use of a server: `@Visible` first, then the scopes of its token. */
export class Access {
  /** The guards of `@Visible` that hide handlers, by request. */
  private readonly hiders = new WeakMap<object, Map<Entry, Promise<Hider | undefined>>>();
  /** When the guard of a handler was last reported to fail. */
  private readonly failures = new WeakMap<Entry, number>();
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
    const [entry] = entries;
    const shows = entry && this.shows(entry, call);
    if (!(shows instanceof Promise)) return entry;
    return shows.then(isShown => (isShown ? entry : this.firstShown(entries.slice(1), call)));
  }

  /** Whether `@Visible` shows a handler to a caller. */
  shows(entry: Entry, call: McpCall): boolean | Promise<boolean> {
    return entry.run.hider ? this.hider(entry, call).then(hider => hider === undefined) : true;
  }

  /** The guard of `@Visible` that hides a handler from a caller. Guards decide once for each handler and request. */
  async hider(entry: Entry, call: McpCall): Promise<Hider | undefined> {
    const request = call.http?.request ?? call.params;
    const known = this.hiders.get(request) ?? new Map<Entry, Promise<Hider | undefined>>();
    this.hiders.set(request, known);
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

  /** The refusal of a request without a token. Scopes that `@Visible` hides stay unknown. */
  unauthorized(requests: readonly NamedRequest[], bearer: Bearer): AuthChallenge {
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
    if (completer || shown instanceof Promise)
      return this.assertAllAllowed([{ method: call.method, params }], call);
    if (shown) this.allowed(shown, call);
    return undefined;
  }

  /**
   * Decides on requests together. A challenge names the scopes of all, so that the client logs in once.
   * @param call that they are part of
   * @throws AuthChallenge if the caller may not make one of them
   */
  async assertAllAllowed(requests: readonly NamedRequest[], call: McpCall): Promise<void> {
    const { authorizer } = this.options;
    const { authInfo, http } = call;
    if (!authorizer || !http) return;
    const needed: (HandlerAccess | undefined)[] = [];
    for (const request of requests) needed.push(...(await this.neededBy(request, call)));
    if (needed.every(access => authorizer.allows(access, authInfo))) return;
    const scopes = new Set(needed.flatMap(access => access?.scopes ?? []));
    throw authorizer.refusal([...scopes], authInfo, http);
  }

  /** Whether tools behind a gateway need scopes. */
  get needsToolScopes(): boolean {
    return this.options.toolScopes !== undefined;
  }

  /** Refuses a tool behind a gateway that the caller may not use. */
  readonly toolStage: Stage = next => (call, params) => {
    this.assertToolAllowed(call, params);
    return next(call, params);
  };

  /** @throws AuthChallenge for a tool behind a gateway that the caller may not use */
  private assertToolAllowed(call: McpCall, params: Params): void {
    const access = toolAccessOf(this.options.toolScopes, call.method, params);
    if (access) this.assertAdmits(access, call);
  }

  /** A completer of a hidden prompt or template is as unknown as its owner. */
  private async neededBy(
    { method, params = {} }: NamedRequest,
    call: McpCall,
  ): Promise<readonly (HandlerAccess | undefined)[]> {
    const tool = toolAccessOf(this.options.toolScopes, method, params);
    const { entries, completer } = namedIn(this.options.catalog(), method, params);
    const owner = await this.firstShown(entries, call);
    const completes = owner && completer && (await this.shows(completer, call));
    return [tool ? [tool] : [], owner ? [owner.access] : [], completes ? [completer.access] : []].flat();
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

  /** The catalogue lists only handlers that the caller may see, but a gateway lists all tools of its backends. */
  private listed(page: Promise<Result>, call: McpCall): Promise<Result> {
    const { authorizer, toolScopes } = this.options;
    const isFiltered = toolScopes && call.http && call.method === 'tools/list';
    if (!isFiltered || !authorizer) return page;
    return page.then(result => toolsShown(result, call, toolScopes, authorizer));
  }

  private listsOf(catalog: Catalog): CallerLists {
    const known = this.lists.get(catalog) ?? new CallerLists(catalog, this.options.authorizer);
    this.lists.set(catalog, known);
    return known;
  }

  private async ask(entry: Entry, call: McpCall): Promise<Hider | undefined> {
    const { run, where } = entry;
    const asked = { data: {}, context: new McpContext(call, this.options.changes) };
    const hider = await run.hider?.(asked).catch((error: unknown): Hider => ({ error }));
    // A guard that refuses says so by an exception, too.
    const isFault = hider?.error !== undefined && !(hider.error instanceof HttpException);
    if (isFault && this.isNewFailure(entry)) {
      const logger = new Logger(`McpModule(${this.options.server})`);
      logger.warn(`${where} is hidden, because a guard of @Visible failed`, hider.error);
    }
    return hider;
  }

  /** A list asks all guards, and a client can read lists as fast as it likes. */
  private isNewFailure(entry: Entry): boolean {
    const now = performance.now();
    if (now - (this.failures.get(entry) ?? -Infinity) < QUIET_MS) return false;
    this.failures.set(entry, now);
    return true;
  }
}

/** The scopes of the handlers that a caller without a token may learn of. */
function scopesShown({ entries, completer }: Named): readonly string[] {
  const owner = entries.find(({ run }) => !run.hider);
  const shown = owner && completer && !completer.run.hider ? [owner, completer] : [owner];
  return shown.flatMap(entry => entry?.access?.scopes ?? []);
}
