import { Injectable, type InjectionToken } from '@nestjs/common';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { Mistakes } from '../exceptions/mistakes.js';
import type { Authorizer } from '../protocol/access.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';

/** Token of `McpServers` for another copy of this package, whose class is a different object. */
export const MCP_SERVERS: InjectionToken = 'nestjs-mcp:servers';

/** Creates the object that authorizes the calls of a server by their tokens. */
export interface Protection {
  /** Name of the server. Undefined: all servers. */
  readonly server?: string;
  authorizerOf(host: McpServerInstance): Authorizer;
}

/** All servers of the application, in the order in which it imports them. */
@Injectable()
export class McpServers {
  private readonly entries: { readonly host: McpServerInstance; readonly position: number }[] = [];

  /** The mistakes that the modules find in their options and packages. `HandlerLoader` throws them with its own. */
  readonly mistakes = new Mistakes();

  /** Names of the MCP clients. Interceptors can be declared for clients, too. */
  readonly clients = new Set<string>();

  private readonly protections: Protection[] = [];

  private readonly waiting: (() => Promise<void>)[] = [];
  private isStarted = false;

  /** Whether the decorated handlers have been found, and all global enhancers exist. */
  get started(): boolean {
    return this.isStarted;
  }

  /** Authorizes the calls of one server, or of all servers, by their tokens. */
  protect(protection: Protection): void {
    this.protections.push(protection);
  }

  /** @throws McpBootstrapError for a server that does not exist, or is protected twice */
  applyProtections(): void {
    for (const { server } of this.protections) {
      if (server !== undefined) this.require(server, `McpAuthModule.forRoot({ server: "${server}" })`);
    }
    for (const host of this.all()) {
      const { name, http } = host.options;
      const own = this.protections.filter(({ server }) => server === undefined || server === name);
      if (own.length > 1) {
        throw new McpBootstrapError(
          'McpAuthModule',
          `the server "${name}" is protected twice; give each McpAuthModule another "server"`,
        );
      }
      // Over stdio, a caller has the rights of the process, so tokens do not apply.
      if (own.length === 1 && http) host.protect(own[0].authorizerOf(host));
    }
  }

  /** Runs a task after the start. */
  onStart(task: () => Promise<void>): void {
    this.waiting.push(task);
  }

  /** Marks the start, and runs the waiting tasks. @throws errors of tasks that are not mistakes */
  async start(): Promise<void> {
    this.isStarted = true;
    for (const task of this.waiting.splice(0)) await this.mistakes.collect(task);
  }

  /**
   * @param position orders the servers, independent of the order of registration
   * @throws McpBootstrapError for a second server with the same name, with the same path, or on stdio
   */
  register(host: McpServerInstance, position: number): void {
    const { name, http, stdio } = host.options;
    const where = `McpModule.forRoot({ name: ${JSON.stringify(name)} })`;
    if (this.names.includes(name)) {
      throw new McpBootstrapError(where, 'another server has this name; give each server its own "name"');
    }
    for (const { options } of this.all()) {
      if (
        http &&
        options.http &&
        samePath(http.path, options.http.path) &&
        http.version === options.http.version
      ) {
        throw new McpBootstrapError(
          where,
          `"${options.name}" is already served at ${options.http.path}; give each server its own "http.path"`,
        );
      }
      if (stdio && options.stdio) {
        throw new McpBootstrapError(
          where,
          `"${options.name}" already has stdio; set "stdio" for only one server`,
        );
      }
    }
    this.entries.push({ host, position });
    this.entries.sort((a, b) => a.position - b.position);
  }

  /** The server with this name; without a name, the first server. */
  get(name?: string): McpServerInstance | undefined {
    return this.all().find(({ options }) => name === undefined || options.name === name);
  }

  /** @throws McpBootstrapError that lists the existing servers */
  require(name: string | undefined, where: string): McpServerInstance {
    const host = this.get(name);
    if (host) return host;
    const known = this.names.map(other => `"${other}"`).join(', ');
    throw new McpBootstrapError(where, `the MCP server "${name}" does not exist; servers are ${known}`);
  }

  get names(): string[] {
    return this.all().map(({ options }) => options.name);
  }

  all(): McpServerInstance[] {
    return this.entries.map(({ host }) => host);
  }
}

const samePath = (a: string, b: string): boolean => trim(a) === trim(b);
const trim = (path: string): string => path.replace(/^\/+|\/+$/g, '').toLowerCase();
