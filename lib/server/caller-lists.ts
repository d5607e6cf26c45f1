import type { AuthInfo } from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import { paginate, type Catalog, type Pages } from '../catalog/catalog.js';
import type { Entry } from '../catalog/entries.js';
import { WITHOUT_SCOPES, type Authorizer, type HandlerAccess } from '../protocol/access.js';
import type { McpCall } from '../protocol/mcp-call.js';
import { listOf, perList, type ListMethod } from '../protocol/methods.js';

/** The most lists of one catalogue that are kept, and the most characters of their JSON together. */
const MAX_VIEWS = 256;
const MAX_LENGTH = 2 ** 24;

type Listed = Extract<Entry, { definition: object }>;

/** The entries of one list. */
interface Rows {
  readonly entries: readonly Listed[];
  /** The entries that `@Visible` may hide. */
  readonly guarded: readonly Listed[];
  /** Whether the list depends on its caller. */
  readonly isPersonal: boolean;
}

/** The lists of a catalogue for each group of callers. Callers who see the same entries share the same pages. */
export class CallerLists {
  /** Whether a caller without a token may use any handler. */
  readonly servesAnonymous: boolean;
  private readonly rows: Readonly<Record<ListMethod, Rows>>;
  /** The distinct access rules of the handlers. */
  private readonly demands = new Map<string, HandlerAccess | undefined>();
  /** The access rules whose handlers a caller sees, as a text. A caller is the same object while its token is cached. */
  private readonly seen = new WeakMap<AuthInfo, string>();
  private seenByAnonymous?: string;
  private readonly views = new LRUCache<string, Pages>({ max: MAX_VIEWS, maxSize: MAX_LENGTH });
  private readonly lengths = new WeakMap<Listed, number>();

  constructor(
    private readonly catalog: Catalog,
    private readonly authorizer: Authorizer | undefined,
  ) {
    const { tools, prompts, resources, resourceTemplates } = catalog;
    const all = [tools, prompts, resources, resourceTemplates].flatMap(entries => [...entries.values()]);
    for (const { access } of all) this.demands.set(demandOf(access), access);
    const allowsAnonymous = [...this.demands.values()].map(
      access => authorizer?.allows(access, undefined) ?? true,
    );
    this.servesAnonymous =
      all.length === 0 ? (authorizer?.anonymous ?? true) : allowsAnonymous.includes(true);
    this.rows = perList(method => this.rowsOf(catalog[listOf(method).lists]));
  }

  /** @param shows whether `@Visible` shows a handler */
  pages(
    method: ListMethod,
    call: McpCall,
    shows: (entry: Entry) => boolean | Promise<boolean>,
  ): Pages | Promise<Pages> {
    const { isPersonal, guarded } = this.rows[method];
    if (!isPersonal) return this.catalog.pages[method];
    if (guarded.length === 0) return this.view(method, call, new Set());
    return Promise.all(guarded.map(async entry => shows(entry))).then(shown =>
      this.view(method, call, new Set(guarded.filter((_, index) => !shown[index]))),
    );
  }

  private view(method: ListMethod, call: McpCall, hidden: ReadonlySet<Listed>): Pages {
    const { entries, guarded } = this.rows[method];
    const seen = this.seenBy(call);
    const bits = guarded.map(entry => Number(hidden.has(entry))).join('');
    const key = `${method} ${call.era} ${seen} ${bits}`;
    const known = this.views.get(key);
    if (known) return known;
    const shown = this.shownTo(
      call,
      entries.filter(entry => !hidden.has(entry)),
    );
    const pages = this.paginate(method, call, shown);
    this.views.set(key, pages, { size: 1 + shown.reduce((sum, entry) => sum + this.lengthOf(entry), 0) });
    return pages;
  }

  private shownTo({ authInfo, http }: McpCall, entries: readonly Listed[]): readonly Listed[] {
    const { authorizer } = this;
    return http && authorizer ? entries.filter(({ access }) => authorizer.shows(access, authInfo)) : entries;
  }

  private paginate(method: ListMethod, { era }: McpCall, shown: readonly Listed[]): Pages {
    const definitions = shown.map(({ definition }) => definition);
    // The list of one caller is not for another (2026-07-28: server/utilities/caching).
    const more = era === 'modern' ? { cacheScope: 'private' } : {};
    return paginate(listOf(method).lists, definitions, this.catalog.pageSize, more);
  }

  /** The characters of a handler's JSON. */
  private lengthOf(entry: Listed): number {
    const length = this.lengths.get(entry) ?? JSON.stringify(entry.definition).length;
    this.lengths.set(entry, length);
    return length;
  }

  /** Over stdio, there are no tokens. */
  private seenBy({ authInfo, http }: McpCall): string {
    const { authorizer } = this;
    if (!http || !authorizer) return '';
    if (!authInfo) return (this.seenByAnonymous ??= this.bitsOf(authorizer, undefined));
    const seen = this.seen.get(authInfo) ?? this.bitsOf(authorizer, authInfo);
    this.seen.set(authInfo, seen);
    return seen;
  }

  private bitsOf(authorizer: Authorizer, caller: AuthInfo | undefined): string {
    return [...this.demands.values()].map(access => Number(authorizer.shows(access, caller))).join('');
  }

  private rowsOf(map: ReadonlyMap<string, Listed>): Rows {
    const entries = [...map.values()];
    const guarded = entries.filter(({ run }) => run.hider);
    const { authorizer, servesAnonymous } = this;
    const isForAll = ({ access }: Listed) =>
      !authorizer ||
      (authorizer.shows(access, WITHOUT_SCOPES) && (!servesAnonymous || authorizer.shows(access, undefined)));
    return { entries, guarded, isPersonal: guarded.length > 0 || !entries.every(isForAll) };
  }
}

const demandOf = (access: HandlerAccess | undefined): string =>
  access ? JSON.stringify([access.anonymous, ...access.scopes]) : '';
