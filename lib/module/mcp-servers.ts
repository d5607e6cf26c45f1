import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type InjectionToken } from '@nestjs/common';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { Mistakes } from '../exceptions/mistakes.js';
import type { ServerExtension } from '../protocol/server-extension.js';
import { Traffic } from '../protocol/traffic.js';
import type { TrafficListener } from '../protocol/traffic-listener.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import type { ResolvedOptions } from '../server/server-options.js';
import type { ServerDraft } from './server-draft.js';

/** Token of `McpServers` for another copy of this package, whose class is a different object. */
export const MCP_SERVERS: InjectionToken = 'nestjs-mcp:servers';

/** Creates an extension for the servers of the application. */
export interface ExtensionSource {
  /** Name of the server. Undefined: all servers. */
  readonly server?: string;
  /** Further paths below that of the endpoint, in Nest's syntax, on which the server answers: `/readonly`. */
  readonly paths?: readonly string[];
  /** The place where it is declared, for messages: `McpAuthModule.forRoot({ server: "shop" })`. */
  readonly where: string;
  /**
   * @returns undefined if the extension has nothing to do for the server
   * @throws McpBootstrapError for a mistake
   */
  readonly create: (draft: ServerDraft) => ServerExtension | undefined;
}

/** All servers of the application, in the order in which it imports them. */
@Injectable()
export class McpServers {
  private readonly entries: { readonly draft: ServerDraft; readonly position: number }[] = [];

  /** The mistakes that the modules find in their options and packages. `HandlerLoader` throws them with its own. */
  readonly mistakes = new Mistakes();

  /** Names of the MCP clients. Interceptors can be declared for clients, too. */
  readonly clients = new Set<string>();

  private readonly sources: ExtensionSource[] = [];

  private drained?: Promise<void>;
  private readonly waiting: (() => Promise<void>)[] = [];
  /** Whether the decorated handlers have been found, and all global enhancers exist. */
  started = false;

  constructor(private readonly traffic: Traffic) {}

  /** Adds an extension to one server, or to all servers. */
  extend(source: ExtensionSource): void {
    this.sources.push(source);
  }

  /** Observes the requests of all servers and clients. @param where for messages */
  observe(where: string, observe: TrafficListener): void {
    this.traffic.add(observe);
    this.extend({ where, create: () => ({ observe }) });
  }

  /** The paths that extensions add below that of a server. */
  pathsBelow({ name }: Pick<ResolvedOptions, 'name'>): string[] {
    const own = this.sources.filter(({ server = name }) => server === name);
    return [...new Set(own.flatMap(({ paths = [] }) => paths))];
  }

  /** Creates the extensions of all servers, and collects the mistakes. */
  createExtensions(): void {
    const { mistakes } = this;
    const sources = this.sources.filter(({ server, where }) =>
      mistakes.attempt(() => server === undefined || this.require(server, where)),
    );
    for (const draft of this.drafts()) {
      for (const { server, where, create } of sources) {
        if (server !== undefined && server !== draft.options.name) continue;
        mistakes.attempt(() => {
          const extension = create(draft);
          if (extension) draft.extend(extension, where);
        });
      }
      mistakes.attempt(() => assertCompatible(draft));
    }
  }

  onStart(task: () => Promise<void>): void {
    this.waiting.push(task);
  }

  /** Marks the start, and runs the waiting tasks. @throws errors of tasks that are not mistakes */
  async start(): Promise<void> {
    this.started = true;
    for (const task of this.waiting.splice(0)) await this.mistakes.collect(task);
  }

  /**
   * @param position orders the servers, independent of the order of registration
   * @throws McpBootstrapError for a second server with the same name, with the same path, or on stdio
   */
  register(draft: ServerDraft, position: number): void {
    const { name, http, stdio } = draft.options;
    const where = `McpModule.forRoot({ name: ${JSON.stringify(name)} })`;
    if (this.names.includes(name)) {
      throw new McpBootstrapError(where, 'another server has this name; give each server its own "name"');
    }
    for (const { options } of this.drafts()) {
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
    this.entries.push({ draft, position });
    this.entries.sort((a, b) => a.position - b.position);
  }

  /** The server with this name; without a name, the first server. Undefined until the server is built. */
  get(name?: string): McpServerInstance | undefined {
    return this.find(name)?.server;
  }

  /** @throws McpBootstrapError that lists the existing servers */
  require(name: string | undefined, where: string): ServerDraft {
    const draft = this.find(name);
    if (draft) return draft;
    const known = this.names.map(other => `"${other}"`).join(', ');
    throw new McpBootstrapError(where, `the MCP server "${name}" does not exist; servers are ${known}`);
  }

  /** Ends the readiness of all servers, and waits for the longest `drainMs` once. */
  drain(): Promise<void> {
    for (const server of this.all()) server.closing();
    const ms = Math.max(0, ...this.drafts().map(({ options }) => (options.http ? options.drainMs : 0)));
    return (this.drained ??= ms > 0 ? pause(ms) : Promise.resolve());
  }

  get names(): string[] {
    return this.drafts().map(({ options }) => options.name);
  }

  drafts(): ServerDraft[] {
    return this.entries.map(({ draft }) => draft);
  }

  /** The servers that are built. */
  all(): McpServerInstance[] {
    return this.drafts().flatMap(({ server }) => server ?? []);
  }

  private find(name: string | undefined): ServerDraft | undefined {
    return this.drafts().find(({ options }) => name === undefined || options.name === name);
  }
}

/** @throws McpBootstrapError for a method that two extensions answer, and for a server that is protected twice */
function assertCompatible({ extensions, options }: ServerDraft): void {
  assertDistinct(
    extensions.flatMap(({ methods = {} }) => Object.keys(methods)),
    '@McpExtension',
  );
  if (extensions.filter(({ views }) => views).length > 1) {
    throw new McpBootstrapError(
      'McpToolsetsModule',
      `the server "${options.name}" has two of it; import it once, or give each another "server"`,
    );
  }
  if (extensions.filter(({ permissions }) => permissions).length < 2) return;
  throw new McpBootstrapError(
    'McpAuthModule',
    `the server "${options.name}" is protected twice; give each McpAuthModule another "server"`,
  );
}

/** @throws McpBootstrapError for a method that two handlers answer */
export function assertDistinct(methods: readonly string[], where: string): void {
  const twice = methods.find((method, index) => methods.indexOf(method) < index);
  if (twice === undefined) return;
  throw new McpBootstrapError(where, `two methods answer "${twice}"; give one of them another name`);
}

const samePath = (a: string, b: string): boolean => trim(a) === trim(b);
const trim = (path: string): string => path.replace(/^\/+|\/+$/g, '').toLowerCase();
