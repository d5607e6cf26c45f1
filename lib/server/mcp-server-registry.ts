import {
  Injectable,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  type CanActivate,
  type ExceptionFilter,
  type NestInterceptor,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { HandlerCompiler } from '../catalog/handler-compiler.js';
import type { Entry } from '../catalog/entries.js';
import type { HandlerKind, HandlerMetadata, HandlerOptionsByKind } from '../decorators/handler-options.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { HandlerTarget, Method } from '../execution/handler-target.js';
import type { McpServerHost } from './mcp-server-host.js';
import { McpServers } from './mcp-servers.js';

/** Enhancers of a handler added at run time; global ones apply to it anyway. */
export interface HandlerEnhancers {
  guards?: (Type<CanActivate> | CanActivate)[];
  pipes?: (Type<PipeTransform> | PipeTransform)[];
  interceptors?: (Type<NestInterceptor> | NestInterceptor)[];
  filters?: (Type<ExceptionFilter> | ExceptionFilter)[];
}

/** Options of a handler added at run time: those of its decorator, and its enhancers. `name` is required where it names. */
export type RuntimeHandlerOptions<K extends HandlerKind> = HandlerOptionsByKind[K] &
  HandlerEnhancers &
  (K extends 'tool' | 'prompt' ? { name: string } : unknown);

/**
 * The function behind a handler added at run time. It is called as an undecorated method would be: a tool and a prompt
 * with the arguments and the `McpContext`, a resource with nothing or the URI's variables and the `McpContext`, a
 * completion with the text, the other arguments and the `McpContext`.
 */
export type RuntimeHandler = (...args: never[]) => unknown;

/** Changes what a server offers while it runs; clients are told with `list_changed`. */
@Injectable()
export class McpServerRegistry {
  constructor(
    private readonly servers: McpServers,
    private readonly compiler: HandlerCompiler,
    private readonly moduleRef: ModuleRef,
  ) {}

  /**
   * Adds a handler.
   * @param kind `tool`, `prompt`, `resource`, `resource template` or `completion`
   * @param options as for the decorator; `server` chooses the server
   * @throws McpBootstrapError where a handler of that name exists, or for options that cannot be served
   */
  async add<K extends HandlerKind>(
    kind: K,
    options: RuntimeHandlerOptions<K>,
    handler: RuntimeHandler,
  ): Promise<void> {
    const host = this.hostOf(options.server);
    host.table.add(await this.compile(kind, options, handler));
    this.changed(host, kind);
  }

  /**
   * Puts a handler in the place of the one of its name.
   * @throws McpBootstrapError where there is none, or for options that cannot be served
   */
  async replace<K extends HandlerKind>(
    kind: K,
    options: RuntimeHandlerOptions<K>,
    handler: RuntimeHandler,
  ): Promise<void> {
    const host = this.hostOf(options.server);
    const entry = await this.compile(kind, options, handler);
    if (!host.table.replace(entry)) throw unknownHandler(host, kind, entry.key);
    this.changed(host, kind);
  }

  /**
   * Offers a disabled handler again.
   * @param key a tool's or prompt's name, a resource's URI, a resource template's template
   * @throws McpBootstrapError where there is none
   */
  enable(kind: HandlerKind, key: string, server?: string): void {
    this.setEnabled(kind, key, true, server);
  }

  /** Hides a handler: it is neither listed nor served, as if it did not exist. */
  disable(kind: HandlerKind, key: string, server?: string): void {
    this.setEnabled(kind, key, false, server);
  }

  /**
   * Removes a handler.
   * @throws McpBootstrapError where there is none
   */
  remove(kind: HandlerKind, key: string, server?: string): void {
    const host = this.hostOf(server);
    if (!host.table.remove(kind, key)) throw unknownHandler(host, kind, key);
    this.changed(host, kind);
  }

  /** Tells every client that subscribed to the resource that it changed. */
  resourceUpdated(uri: string, server?: string): void {
    this.hostOf(server).changes.resourceUpdated(uri);
  }

  private setEnabled(kind: HandlerKind, key: string, enabled: boolean, server?: string): void {
    const host = this.hostOf(server);
    if (!host.table.setEnabled(kind, key, enabled)) throw unknownHandler(host, kind, key);
    this.changed(host, kind);
  }

  private changed(host: McpServerHost, kind: HandlerKind): void {
    host.publish();
    if (kind === 'tool') host.changes.toolsChanged();
    else if (kind === 'prompt') host.changes.promptsChanged();
    else if (kind !== 'completion') host.changes.resourcesChanged();
  }

  private hostOf(name: string | undefined): McpServerHost {
    const host = this.servers.get(name);
    if (!host) throw new McpBootstrapError('McpServerRegistry', `there is no MCP server "${name}"`);
    return host;
  }

  private async compile<K extends HandlerKind>(
    kind: K,
    { guards = [], pipes = [], interceptors = [], filters = [], ...options }: RuntimeHandlerOptions<K>,
    handler: RuntimeHandler,
  ): Promise<Entry> {
    const target = runtimeTarget(handler as Method);
    const descriptor = { value: (target.instance as RuntimeHost).handle };
    const decorate = (decorator: MethodDecorator) => decorator(target.instance, 'handle', descriptor);
    decorate(UseGuards(...(await this.instances(guards))));
    decorate(UsePipes(...(await this.instances(pipes))));
    decorate(UseInterceptors(...(await this.instances(interceptors))));
    decorate(UseFilters(...(await this.instances(filters))));
    return this.compiler.compile({ metadata: { kind, options } as HandlerMetadata, target });
  }

  /** Nest resolves enhancer classes of decorated methods while it scans; those that come later are resolved here. */
  private instances<T extends object>(enhancers: (Type<T> | T)[]): Promise<T[]> {
    return Promise.all(
      enhancers.map(async enhancer => {
        if (typeof enhancer !== 'function') return enhancer;
        try {
          return this.moduleRef.get<T>(enhancer, { strict: false });
        } catch {
          return this.moduleRef.create<T>(enhancer);
        }
      }),
    );
  }
}

/** The provider that a handler added at run time has instead of a class of the application's. */
class RuntimeHost {
  constructor(readonly handle: Method) {}
}

function runtimeTarget(handler: Method): HandlerTarget {
  const instance = new RuntimeHost((...args) => handler(...args));
  return { instance, methodName: 'handle', handlerClass: RuntimeHost, moduleKey: '' };
}

const unknownHandler = ({ options }: McpServerHost, kind: HandlerKind, key: string): McpBootstrapError =>
  new McpBootstrapError(
    'McpServerRegistry',
    `the server "${options.name}" has no ${kind} ${JSON.stringify(key)}`,
  );
