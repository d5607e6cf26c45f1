import { Injectable, type InjectionToken } from '@nestjs/common';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { Authorizer } from '../protocol/access.js';
import type { McpServerInstance } from './mcp-server-instance.js';

/** `McpServers`, for a copy of this package that has another class of that name. */
export const MCP_SERVERS: InjectionToken = 'nestjs-mcp:servers';

/** Makes what decides about the calls of a server by their tokens. */
export interface Protection {
  /** Name of the server. Undefined: all servers. */
  readonly server?: string;
  authorizerOf(host: McpServerInstance): Authorizer;
}

/** All servers of the application, in the order in which it imports them. */
@Injectable()
export class McpServers {
  private readonly entries: { readonly host: McpServerInstance; readonly position: number }[] = [];

  /** Names of the MCP clients, which interceptors can be declared for as well. */
  readonly clients = new Set<string>();

  private readonly protections: Protection[] = [];

  private readonly waiting: (() => Promise<void>)[] = [];
  private isStarted = false;

  /** Whether the decorated handlers have been found, and global enhancers are all there. */
  get started(): boolean {
    return this.isStarted;
  }

  /** Has tokens decide about the calls of a server, or of all. */
  protect(protection: Protection): void {
    this.protections.push(protection);
  }

  /** @throws McpBootstrapError for a server that is unknown, or protected twice */
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
      // Over stdio, a caller has the rights of the process.
      if (own.length === 1 && http) host.protect(own[0].authorizerOf(host));
    }
  }

  /** Does something once that is so. */
  onStart(task: () => Promise<void>): void {
    this.waiting.push(task);
  }

  /** @throws whatever a task that waited throws */
  async start(): Promise<void> {
    this.isStarted = true;
    for (const task of this.waiting.splice(0)) await task();
  }

  /**
   * @param position orders the servers, whatever the order in which they register
   * @throws McpBootstrapError for a second server of one name, on one path, or on stdio
   */
  register(host: McpServerInstance, position: number): void {
    const { name, http, stdio } = host.options;
    const where = `McpModule.forRoot({ name: ${JSON.stringify(name)} })`;
    if (this.names.includes(name)) {
      throw new McpBootstrapError(
        where,
        'another server has this name; give each server a "name" of its own',
      );
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
          `"${options.name}" is served at ${options.http.path} already; give each server an "http.path" of its own`,
        );
      }
      if (stdio && options.stdio) {
        throw new McpBootstrapError(where, `"${options.name}" has stdio already; only one server can`);
      }
    }
    this.entries.push({ host, position });
    this.entries.sort((a, b) => a.position - b.position);
  }

  /** The server of that name; without a name the first one. */
  get(name?: string): McpServerInstance | undefined {
    return this.all().find(({ options }) => name === undefined || options.name === name);
  }

  /** @throws McpBootstrapError naming the servers there are */
  require(name: string | undefined, where: string): McpServerInstance {
    const host = this.get(name);
    if (host) return host;
    const known = this.names.map(other => `"${other}"`).join(', ');
    throw new McpBootstrapError(where, `there is no MCP server "${name}"; servers are ${known}`);
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
