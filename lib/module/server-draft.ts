import type { ServerExtension } from '../protocol/server-extension.js';
import { HandlerTable } from '../server/handler-table.js';
import type { Handlers } from '../server/handlers.js';
import { McpServerInstance } from '../server/mcp-server-instance.js';
import type { ResolvedOptions } from '../server/server-options.js';

/** A server of which the modules collect the parts. It is built once, when all of them are there. */
export class ServerDraft {
  /** The handlers of the application. */
  readonly table: HandlerTable;
  readonly extensions: ServerExtension[] = [];
  private mounted: readonly string[] = [];
  private built?: McpServerInstance;

  /** @param remote answers instead of the application's handlers */
  constructor(
    readonly options: ResolvedOptions,
    readonly remote?: Handlers,
  ) {
    this.table = new HandlerTable(remote && `the server "${options.name}" is a gateway; ${GATEWAY_REMEDY}`);
  }

  /** The paths of the HTTP endpoint; empty without one. */
  get paths(): readonly string[] {
    return this.mounted;
  }

  /** @param paths of Nest's route */
  mount(paths: readonly string[]): void {
    this.mounted = paths;
  }

  build(): McpServerInstance {
    const { options, table, remote, paths, extensions } = this;
    return (this.built = new McpServerInstance({ options, table, remote, paths, extensions }));
  }

  /** Undefined until the server is built. */
  get server(): McpServerInstance | undefined {
    return this.built;
  }
}

const GATEWAY_REMEDY =
  'it offers only the handlers of its backend, so set "server" of the handler to another server';
