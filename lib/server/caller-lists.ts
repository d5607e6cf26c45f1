import type { AuthInfo } from '@modelcontextprotocol/server';
import { LRUCache } from 'lru-cache';
import { paginate, type Catalog, type Pages } from '../catalog/catalog.js';
import type { Entry } from '../catalog/entries.js';
import {
  servesAnonymous,
  WITHOUT_SCOPES,
  type Permissions,
  type Requirement,
} from '../protocol/permissions.js';
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
  private readonly rows: Readonly<Record<ListMethod, Rows>>;
  /** The distinct requirements of the handlers. */
  private readonly requirements = new Map<string, Requirement | undefined>();
  private readonly servesAnonymous: boolean;
  /** The requirements whose handlers a caller sees, as a text. A caller is the same object while its token is cached. */
  private readonly seen = new WeakMap<AuthInfo, string>();
  private seenByAnonymous?: string;
  private readonly views = new LRUCache<string, Pages>({ max: MAX_VIEWS, maxSize: MAX_LENGTH });
  private readonly lengths = new WeakMap<Listed, number>();

  constructor(
    private readonly catalog: Catalog,
    private readonly permissions: Permissions | undefined,
    further: readonly (Requirement | undefined)[],
  ) {
    for (const { requirement } of catalog.listed) this.requirements.set(textOf(requirement), requirement);
    const all = [...this.requirements.values(), ...further];
    this.servesAnonymous = !permissions || servesAnonymous(permissions, all);
    this.rows = perList(method => this.rowsOf(catalog[listOf(method).lists]));
  }

  /** @param shows whether `@Visible` shows a handler */
  pages(
    method: ListMethod,
    call: McpCall,
    shows: (entry: Entry) => boolean | Promise<boolean>,
  ): Pages | Promise<Pages> {
    const { isPersonal, guarded } = this.rows[method];
    if (!isPersonal && !call.http?.view) return this.catalog.pages[method];
    if (guarded.length === 0) return this.view(method, call, new Set());
    return Promise.all(guarded.map(async entry => shows(entry))).then(shown =>
      this.view(method, call, new Set(guarded.filter((_, index) => !shown[index]))),
    );
  }

  private view(method: ListMethod, call: McpCall, hidden: ReadonlySet<Listed>): Pages {
    const { entries, guarded } = this.rows[method];
    const seen = this.seenBy(call);
    const bits = guarded.map(entry => Number(hidden.has(entry))).join('');
    const own = call.http?.view;
    const key = `${method} ${call.era} ${seen} ${bits} ${own?.key ?? ''}`;
    const known = this.views.get(key);
    if (known) return known;
    const shown = this.shownTo(
      call,
      entries.filter(entry => !hidden.has(entry) && own?.has(entry) !== false),
    );
    const pages = this.paginate(method, call, shown);
    this.views.set(key, pages, { size: 1 + shown.reduce((sum, entry) => sum + this.lengthOf(entry), 0) });
    return pages;
  }

  private shownTo({ authInfo, http }: McpCall, entries: readonly Listed[]): readonly Listed[] {
    const { permissions } = this;
    if (!http || !permissions) return entries;
    return entries.filter(({ requirement }) => permissions.shows(requirement, authInfo));
  }

  private paginate(method: ListMethod, { era, http }: McpCall, shown: readonly Listed[]): Pages {
    const definitions = shown.map(({ definition }) => definition);
    const isPrivate = this.rows[method].isPersonal || http?.view?.isPrivate;
    // The list of one caller is not for another (2026-07-28: server/utilities/caching).
    const more = era === 'modern' && isPrivate ? { cacheScope: 'private' } : {};
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
    const { permissions } = this;
    if (!http || !permissions) return '';
    if (!authInfo) return (this.seenByAnonymous ??= this.bitsOf(permissions, undefined));
    const seen = this.seen.get(authInfo) ?? this.bitsOf(permissions, authInfo);
    this.seen.set(authInfo, seen);
    return seen;
  }

  private bitsOf(permissions: Permissions, caller: AuthInfo | undefined): string {
    return [...this.requirements.values()].map(one => Number(permissions.shows(one, caller))).join('');
  }

  private rowsOf(map: ReadonlyMap<string, Listed>): Rows {
    const entries = [...map.values()];
    const guarded = entries.filter(({ run }) => run.hidingGuard);
    const { permissions } = this;
    const isForAll = ({ requirement }: Listed) =>
      !permissions ||
      (permissions.shows(requirement, WITHOUT_SCOPES) &&
        (!this.servesAnonymous || permissions.shows(requirement, undefined)));
    return { entries, guarded, isPersonal: guarded.length > 0 || !entries.every(isForAll) };
  }
}

const textOf = (requirement: Requirement | undefined): string =>
  requirement ? JSON.stringify([requirement.anonymous, ...requirement.scopes]) : '';
