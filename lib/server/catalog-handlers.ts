import { Catalog, type DeclaredCapabilities } from '../catalog/catalog.js';
import type { Rounds } from '../elicitation/rounds.js';
import type { Answer } from '../protocol/answer.js';
import type { ChangeNotifier } from '../protocol/changes.js';
import type { McpCall } from '../protocol/mcp-call.js';
import type { DispatchedMethod } from '../protocol/methods.js';
import type { NamedRequest, Permissions, Requirement, Requirements } from '../protocol/permissions.js';
import type { NamedKind } from '../protocol/traffic-listener.js';
import { Dispatcher } from './dispatcher.js';
import type { Handlers, ServerDescription, ToolSchemas } from '../protocol/handlers.js';
import type { HandlerTable } from './handler-table.js';
import { pageShowing } from './listings.js';
import type { ResolvedOptions } from './server-options.js';
import type { HandlerRunner } from './handler-runner.js';
import { Visibility } from './visibility.js';

interface CatalogHandlersOptions {
  readonly options: ResolvedOptions;
  readonly changes: ChangeNotifier;
  readonly rounds: Rounds;
  readonly runner: HandlerRunner;
  /** The requirements of the extensions' methods. */
  readonly further: readonly (Requirement | undefined)[];
  readonly table: HandlerTable;
  readonly permissions?: Permissions;
}

/** The handlers of the application. A change of the table compiles a new catalogue. */
export class CatalogHandlers implements Handlers {
  readonly isRemote = false;
  readonly methods = {};
  readonly subscriptionsAtOnce = 1;
  /** What a caller sees of the handlers. */
  readonly visibility: Visibility;
  readonly pageShowing: Handlers['pageShowing'];
  private readonly declared: DeclaredCapabilities;
  private readonly dispatcher: Dispatcher;
  private current?: Catalog;

  constructor(private readonly parts: CatalogHandlersOptions) {
    const { options, changes, rounds, runner, permissions, further } = parts;
    const catalog = () => this.catalog;
    this.declared = { ...options.capabilities };
    this.visibility = new Visibility({ server: options.name, catalog, changes, permissions, further });
    this.dispatcher = new Dispatcher(this, changes, rounds, runner);
    this.pageShowing = pageShowing(catalog, this.visibility);
  }

  /** The handlers that the server offers now. */
  get catalog(): Catalog {
    return (this.current ??= this.compile());
  }

  get description(): ServerDescription {
    return this.catalog;
  }

  /** Offers the current handlers of the table. Several changes in a row compile only one new catalogue. */
  publish(): void {
    this.current = undefined;
  }

  answer(method: DispatchedMethod): Answer {
    return this.dispatcher.answers[method];
  }

  offers(): boolean {
    return false;
  }

  readonly headerParams: Handlers['headerParams'] = (tool, call) => {
    const shown = this.visibility.shown(this.catalog.tools.get(tool), call);
    return shown instanceof Promise
      ? shown.then(own => own?.headerParams ?? [])
      : (shown?.headerParams ?? []);
  };

  toolSchemas(tool: string): ToolSchemas | undefined {
    return this.catalog.tools.get(tool)?.definition;
  }

  async admitSubscription(uri: string, call: McpCall): Promise<boolean> {
    await this.dispatcher.admitSubscription(uri, call);
    return true;
  }

  isKnown(kind: NamedKind, name: string): boolean {
    return this.catalog[kind === 'tool' ? 'tools' : 'prompts'].has(name);
  }

  needs(request: NamedRequest, call: McpCall | undefined): ReturnType<Requirements['needs']> {
    return this.visibility.needs(request, call);
  }

  requirements(): ReturnType<Requirements['requirements']> {
    return this.catalog.listed;
  }

  private compile(): Catalog {
    const { options, table } = this.parts;
    const catalog = new Catalog(table.enabled(), {
      pageSize: options.pageSize,
      declare: this.declared,
    });
    // Clients rely on declared capabilities, so a list that has become empty is still answered.
    for (const kind of ['tools', 'prompts', 'resources', 'completions'] as const) {
      if (catalog.capabilities[kind]) this.declared[kind] = true;
    }
    return catalog;
  }
}
