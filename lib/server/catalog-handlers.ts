import { Catalog, type DeclaredCapabilities } from '../catalog/catalog.js';
import type { Rounds } from '../elicitation/rounds.js';
import type { Answer } from '../protocol/answer.js';
import type { ChangeNotifier } from '../protocol/changes.js';
import type { McpCall } from '../protocol/mcp-call.js';
import type { DispatchedMethod } from '../protocol/methods.js';
import type { NamedKind } from '../protocol/traffic.js';
import type { Access } from './access.js';
import { Dispatcher } from './dispatcher.js';
import type { Handlers, ServerDescription, ToolSchemas } from './handlers.js';
import { HandlerTable } from './handler-table.js';
import { pageShowing } from './listings.js';
import type { ResolvedOptions } from './server-options.js';

interface CatalogHandlersOptions {
  readonly options: ResolvedOptions;
  readonly changes: ChangeNotifier;
  readonly rounds: Rounds;
  /** The reason why the server cannot have handlers, if there is one. */
  readonly refusal?: string;
  readonly onCompiled: (catalog: Catalog) => void;
}

/** The handlers of the application. A change of the table compiles a new catalogue. */
export class CatalogHandlers implements Handlers {
  readonly isRemote = false;
  readonly methods = {};
  readonly subscriptionsAtOnce = 1;
  readonly table: HandlerTable;
  readonly pageShowing: Handlers['pageShowing'];
  private readonly declared: DeclaredCapabilities;
  private readonly dispatcher: Dispatcher;
  private current?: Catalog;
  /** Undefined if the answers do not depend on the caller. */
  access?: Access;

  constructor(private readonly parts: CatalogHandlersOptions) {
    const { options, changes, rounds, refusal } = parts;
    this.declared = { ...options.capabilities };
    this.table = new HandlerTable(refusal);
    this.dispatcher = new Dispatcher(this, changes, rounds);
    this.pageShowing = pageShowing(
      () => this.catalog,
      () => this.access,
    );
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
    const { access } = this;
    const entry = this.catalog.tools.get(tool);
    const shown = access ? access.admitted(entry, call) : entry;
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

  private compile(): Catalog {
    const { options, onCompiled } = this.parts;
    const catalog = new Catalog(this.table.enabled(), {
      pageSize: options.pageSize,
      declare: this.declared,
    });
    // Clients rely on declared capabilities, so a list that has become empty is still answered.
    for (const kind of ['tools', 'prompts', 'resources', 'completions'] as const) {
      if (catalog.capabilities[kind]) this.declared[kind] = true;
    }
    onCompiled(catalog);
    return catalog;
  }
}
