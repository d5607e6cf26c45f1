import { HttpException, Logger } from '@nestjs/common';
import type { Catalog, Pages } from '../catalog/catalog.js';
import type { Entry } from '../catalog/entries.js';
import type { HidingGuard } from '../execution/handler-pipeline.js';
import { McpContext } from '../execution/mcp-context.js';
import type { ChangeNotifier } from '../protocol/changes.js';
import type { McpCall } from '../protocol/mcp-call.js';
import type { ListMethod } from '../protocol/methods.js';
import type { NamedRequest, Permissions, Requirement } from '../protocol/permissions.js';
import type { CallerLists } from './caller-lists.js';
import { namedIn } from './named-entries.js';

/** How long a failing guard is not reported again, in milliseconds. */
const QUIET_MS = 60_000;

/** A handler that `@Visible` may hide. */
type Hideable = Pick<Entry, 'run' | 'where'>;

interface VisibilityOptions {
  /** Name of the server, for the log. */
  readonly server: string;
  readonly catalog: () => Catalog;
  readonly changes: ChangeNotifier;
  /** Undefined: only `@Visible` decides. */
  readonly permissions?: Permissions;
  /** The requirements of the extensions' methods. */
  readonly further: readonly (Requirement | undefined)[];
}

/** Decides which handlers a caller sees: `@Visible` first, then, in lists, the permissions of the caller. */
export class Visibility {
  /** The guards of `@Visible` that hide handlers, by request. */
  private readonly hidingGuards = new WeakMap<object, Map<Hideable, Promise<HidingGuard | undefined>>>();
  /** When the guard of a handler was last reported to fail. */
  private readonly failures = new WeakMap<Hideable, number>();
  private readonly lists = new WeakMap<Catalog, Promise<CallerLists>>();

  constructor(private readonly options: VisibilityOptions) {}

  /** The handler, or undefined if it is hidden from the caller. Returns a promise only if guards must run. */
  shown<E extends Entry>(entry: E | undefined, call: McpCall): E | undefined | Promise<E | undefined> {
    const shows = entry && this.shows(entry, call);
    if (shows instanceof Promise) return shows.then(isShown => (isShown ? entry : undefined));
    return shows ? entry : undefined;
  }

  /** The first of these handlers that the caller sees. Returns a promise only if a guard has to decide. */
  firstShown(entries: readonly Entry[], call: McpCall): Entry | undefined | Promise<Entry | undefined> {
    const [entry] = entries;
    const shows = entry && this.shows(entry, call);
    if (shows === true || !entry) return entry;
    const rest = () => this.firstShown(entries.slice(1), call);
    return shows instanceof Promise ? shows.then(isShown => (isShown ? entry : rest())) : rest();
  }

  /** Whether a handler belongs to the view of a call, and `@Visible` shows it to the caller. */
  private shows(entry: Entry, call: McpCall): boolean | Promise<boolean> {
    if (call.http?.view?.has(entry) === false) return false;
    return entry.run.hidingGuard && !call.lifecycle?.isAdmitted
      ? this.hidingGuard(entry, call).then(hidingGuard => hidingGuard === undefined)
      : true;
  }

  /** The guard of `@Visible` that hides a handler from a caller. Guards decide once for each handler and request. */
  async hidingGuard(entry: Hideable, call: McpCall): Promise<HidingGuard | undefined> {
    const request = call.http?.request ?? call.params;
    const known = this.hidingGuards.get(request) ?? new Map<Hideable, Promise<HidingGuard | undefined>>();
    this.hidingGuards.set(request, known);
    const verdict = known.get(entry) ?? this.ask(entry, call);
    known.set(entry, verdict);
    return verdict;
  }

  /** The pages of a list that the caller sees. */
  pages(method: ListMethod, call: McpCall): Pages | Promise<Pages> {
    const { permissions, further } = this.options;
    const catalog = this.options.catalog();
    if (!catalog.hasHidden && !permissions && !call.http?.view) return catalog.pages[method];
    const lists =
      this.lists.get(catalog) ??
      import('./caller-lists.js').then(({ CallerLists: Lists }) => new Lists(catalog, permissions, further));
    this.lists.set(catalog, lists);
    return lists.then(own => own.pages(method, call, entry => this.shows(entry, call)));
  }

  /**
   * The requirements of the handlers that a request names, as far as the caller sees them. A completer of a hidden
   * prompt or template is as unknown as its owner.
   * @param call undefined for a caller that nobody knows: handlers with `@Visible` are hidden from it
   */
  needs(
    { method, params = {} }: NamedRequest,
    call: McpCall | undefined,
  ): readonly (Requirement | undefined)[] | Promise<readonly (Requirement | undefined)[]> {
    const { entries, completer } = namedIn(this.options.catalog(), method, params);
    const owner = call ? this.firstShown(entries, call) : entries.find(({ run }) => !run.hidingGuard);
    if (!completer && !(owner instanceof Promise)) return owner ? [owner.requirement] : NOTHING;
    return this.neededBy(owner, completer, call);
  }

  private async neededBy(
    shown: Entry | undefined | Promise<Entry | undefined>,
    completer: Entry | undefined,
    call: McpCall | undefined,
  ): Promise<readonly (Requirement | undefined)[]> {
    const owner = await shown;
    if (!owner) return NOTHING;
    const isShown = completer && (call ? await this.shows(completer, call) : !completer.run.hidingGuard);
    return isShown ? [owner.requirement, completer.requirement] : [owner.requirement];
  }

  private async ask(entry: Hideable, call: McpCall): Promise<HidingGuard | undefined> {
    const { run, where } = entry;
    const asked = { data: {}, context: new McpContext(call, this.options.changes) };
    const hidingGuard = await run.hidingGuard?.(asked).catch((error: unknown): HidingGuard => ({ error }));
    // A guard that refuses says so by an exception, too.
    const isFault = hidingGuard?.error !== undefined && !(hidingGuard.error instanceof HttpException);
    if (isFault && this.isNewFailure(entry)) {
      const logger = new Logger(`McpModule(${this.options.server})`);
      logger.warn(`${where} is hidden, because a guard of @Visible failed`, hidingGuard.error);
    }
    return hidingGuard;
  }

  /** A list asks all guards, and a client can read lists as fast as it likes. */
  private isNewFailure(entry: Hideable): boolean {
    const now = performance.now();
    if (now - (this.failures.get(entry) ?? -Infinity) < QUIET_MS) return false;
    this.failures.set(entry, now);
    return true;
  }
}

const NOTHING: readonly Requirement[] = [];
