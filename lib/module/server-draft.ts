import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { ServerExtension } from '../protocol/server-extension.js';
import { HandlerTable } from '../server/handler-table.js';
import { McpServerInstance } from '../server/mcp-server-instance.js';
import type { ResolvedOptions } from '../server/server-options.js';

/** A server of which the modules collect the parts. It is built once, when all of them are there. */
export class ServerDraft {
  /** The handlers of the application. */
  readonly table = new HandlerTable();
  private readonly added: ServerExtension[] = [];
  /** Where each identifier is declared. */
  private readonly ids = new Map<string, string>();
  /** The paths of the HTTP endpoint, as Nest routes them; empty without one. */
  paths: readonly string[] = [];
  /** Undefined until the server is built. */
  server?: McpServerInstance;

  constructor(readonly options: ResolvedOptions) {}

  /** The extensions that the server will have. Complete when all modules have added theirs. */
  get extensions(): readonly ServerExtension[] {
    const isGateway = this.added.some(({ handlers }) => handlers?.isRemote);
    return isGateway ? this.added.filter(one => !one.forOwnHandlers) : this.added;
  }

  /** @throws McpBootstrapError for an identifier that another extension has */
  extend(extension: ServerExtension, where: string): void {
    const { id } = extension;
    if (id !== undefined) {
      const other = this.ids.get(id);
      if (other !== undefined) {
        throw new McpBootstrapError(where, `${other} has the id "${id}", too; give one of them another id`);
      }
      this.ids.set(id, where);
    }
    this.added.push(extension);
  }

  build(): McpServerInstance {
    const { options, table, paths, extensions } = this;
    return (this.server = new McpServerInstance({ options, table, paths, extensions }));
  }
}
