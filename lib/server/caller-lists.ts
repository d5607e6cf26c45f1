import type { AuthInfo } from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import { paginate, type Catalog, type Pages } from '../catalog/catalog.js';
import type { Entry } from '../catalog/entries.js';
import type { Authorizer, HandlerAccess } from '../protocol/access.js';
import type { McpCall } from '../protocol/mcp-call.js';
import { listOf, type ListMethod } from '../protocol/methods.js';

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
  /** The access rules that a caller satisfies, as a text. A caller is the same object while its token is cached. */
  private readonly met = new WeakMap<AuthInfo, string>();
  private metByAnonymous?: string;
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
    this.rows = {
      'tools/list': this.rowsOf(tools),
      'prompts/list': this.rowsOf(prompts),
      'resources/list': this.rowsOf(resources),
      'resources/templates/list': this.rowsOf(resourceTemplates),
    };
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
    const met = this.metBy(call);
    const bits = guarded.map(entry => Number(hidden.has(entry))).join('');
    const key = `${method} ${call.era} ${met} ${bits}`;
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
    const isFiltered = http && authorizer?.lists === 'allowed';
    return isFiltered ? entries.filter(({ access }) => authorizer.allows(access, authInfo)) : entries;
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
  private metBy({ authInfo, http }: McpCall): string {
    if (!http || this.authorizer?.lists !== 'allowed') return '';
    if (!authInfo) return (this.metByAnonymous ??= this.bitsOf(undefined));
    const met = this.met.get(authInfo) ?? this.bitsOf(authInfo);
    this.met.set(authInfo, met);
    return met;
  }

  private bitsOf(caller: AuthInfo | undefined): string {
    return [...this.demands.values()].map(access => Number(this.authorizer!.allows(access, caller))).join('');
  }

  private rowsOf(map: ReadonlyMap<string, Listed>): Rows {
    const entries = [...map.values()];
    const guarded = entries.filter(({ run }) => run.hider);
    const { authorizer, servesAnonymous } = this;
    const differs =
      authorizer?.lists === 'allowed' &&
      entries.some(
        ({ access }) =>
          (access?.scopes.length ?? 0) > 0 || (servesAnonymous && !authorizer.allows(access, undefined)),
      );
    return { entries, guarded, isPersonal: guarded.length > 0 || differs };
  }
}

const demandOf = (access: HandlerAccess | undefined): string =>
  access ? JSON.stringify([access.anonymous, ...access.scopes]) : '';
