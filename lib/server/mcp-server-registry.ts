import {
  Injectable,
  Scope,
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
import { keyOfCompletion, type CompletionRef, type Entry } from '../catalog/entries.js';
import { HandlerCompiler } from '../catalog/handler-compiler.js';
import type { HandlerKind, HandlerMetadata, HandlerOptionsByKind } from '../decorators/handler-options.js';
import { VISIBLE_METADATA } from '../decorators/metadata.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { describeTarget, type HandlerTarget, type Method } from '../execution/handler-target.js';
import { assertCompletes } from './assert-completes.js';
import { assertProtected } from './assert-protected.js';
import type { McpServerInstance } from './mcp-server-instance.js';
import { McpServers } from './mcp-servers.js';
import { runtimeTarget } from './runtime-target.js';

/** Nest's key for the scope of a class. */
const SCOPE_OPTIONS_METADATA = 'scope:options';

/**
 * Enhancers of a handler added at run time; global ones apply to it anyway. A class is looked up among the
 * application's providers, or else made; pipes run on the arguments of a tool or a prompt.
 */
export interface HandlerEnhancers {
  /** As with `@UseGuards`. Default: none. */
  guards?: (Type<CanActivate> | CanActivate)[];
  /** As with `@Visible`. Default: none. */
  visible?: (Type<CanActivate> | CanActivate)[];
  /** As with `@UsePipes`. Default: none. */
  pipes?: (Type<PipeTransform> | PipeTransform)[];
  /** As with `@UseInterceptors`: Nest's, not validators or mutators. Default: none. */
  interceptors?: (Type<NestInterceptor> | NestInterceptor)[];
  /** As with `@UseFilters`. Default: none. */
  filters?: (Type<ExceptionFilter> | ExceptionFilter)[];
}

/** Options of a handler added at run time: those of its decorator, and its enhancers. `name` is required where it names. */
export type RuntimeHandlerOptions<K extends HandlerKind> = HandlerOptionsByKind[K] &
  HandlerEnhancers &
  (K extends 'tool' | 'prompt' ? { name: string } : unknown);

/**
 * What names a handler: a tool's or prompt's name, a resource's URI, a resource template's template; for a completion,
 * what it completes.
 */
export type HandlerKey<K extends HandlerKind> = K extends 'completion' ? CompletionRef : string;

/**
 * The function behind a handler added at run time. Guards see its metadata, as `SetMetadata(...)(handler)` writes it;
 * `Visible(...)(handler)` and `RequireScopes(...)(handler)` work alike.
 * It is called as an undecorated method would be: a tool and a prompt
 * with the arguments and the `McpContext`, a resource with nothing or the URI's variables and the `McpContext`, a
 * completion with the text, the other arguments and the `McpContext`.
 */
export type RuntimeHandler = (...args: never[]) => unknown;

/**
 * Changes what a server offers while it runs; clients are told with `list_changed`.
 * @example
 * ```ts
 * constructor(private readonly registry: McpServerRegistry) {}
 *
 * async offer() {
 *   await this.registry.add('tool', { name: 'report', inputSchema: ReportDto }, (args: ReportDto) => args.month);
 * }
 * ```
 */
@Injectable()
export class McpServerRegistry {
  /** @internal Nest makes it. */
  constructor(
    private readonly servers: McpServers,
    private readonly compiler: HandlerCompiler,
    private readonly moduleRef: ModuleRef,
  ) {}

  /**
   * Adds a handler. While the application starts, it is added once the decorated handlers have been found.
   * @param kind `tool`, `prompt`, `resource`, `resource template` or `completion`
   * @param options as for the decorator; `server` chooses the server; a tool or prompt whose function has parameters
   *   needs a schema
   * @throws McpBootstrapError where a handler of that name exists, or for options that cannot be served
   */
  async add<K extends HandlerKind>(
    kind: K,
    options: RuntimeHandlerOptions<K>,
    handler: RuntimeHandler,
  ): Promise<void> {
    // Global guards may still be to come: `app.useGlobalGuards()` is called once the providers have been made.
    if (!this.servers.started) return void this.servers.onStart(() => this.add(kind, options, handler));
    const host = this.hostOf(options.server);
    const entry = await this.compile(kind, options, handler);
    assertCompletes(entry, host);
    assertProtected(entry, host);
    host.table.add(entry, 'replace() puts one in its place');
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
    assertProtected(entry, host);
    if (!host.table.replace(entry)) throw unknownHandler(host, kind, entry.key);
    this.changed(host, kind);
  }

  /**
   * Offers a disabled handler again.
   * @throws McpBootstrapError where there is none
   */
  enable<K extends HandlerKind>(kind: K, key: HandlerKey<K>, server?: string): void {
    this.setEnabled(kind, key, true, server);
  }

  /**
   * Hides a handler: it is neither listed nor served, as if it did not exist. A call that runs already ends as usual.
   * @throws McpBootstrapError where there is none
   */
  disable<K extends HandlerKind>(kind: K, key: HandlerKey<K>, server?: string): void {
    this.setEnabled(kind, key, false, server);
  }

  /**
   * Removes a handler. A call that runs already ends as usual.
   * @throws McpBootstrapError where there is none
   */
  remove<K extends HandlerKind>(kind: K, key: HandlerKey<K>, server?: string): void {
    const host = this.hostOf(server);
    if (!host.table.remove(kind, rowKey(key))) throw unknownHandler(host, kind, rowKey(key));
    this.changed(host, kind);
  }

  /** Tells every client that subscribed to the resource that it changed. */
  resourceUpdated(uri: string, server?: string): void {
    this.hostOf(server).changes.resourceUpdated(uri);
  }

  private setEnabled(
    kind: HandlerKind,
    key: string | CompletionRef,
    enabled: boolean,
    server: string | undefined,
  ): void {
    const host = this.hostOf(server);
    if (!host.table.setEnabled(kind, rowKey(key), enabled)) throw unknownHandler(host, kind, rowKey(key));
    this.changed(host, kind);
  }

  private changed(host: McpServerInstance, kind: HandlerKind): void {
    host.publish();
    if (kind === 'tool') host.changes.toolsChanged();
    else if (kind === 'prompt') host.changes.promptsChanged();
    else if (kind !== 'completion') host.changes.resourcesChanged();
  }

  private hostOf(name: string | undefined): McpServerInstance {
    return this.servers.require(name, 'McpServerRegistry');
  }

  private async compile<K extends HandlerKind>(
    kind: K,
    {
      guards = [],
      visible = [],
      pipes = [],
      interceptors = [],
      filters = [],
      ...options
    }: RuntimeHandlerOptions<K>,
    handler: RuntimeHandler,
  ): Promise<Entry> {
    const target = runtimeTarget(kind, options as { name?: string; uri?: string }, handler as Method);
    const { handlerClass, methodName } = target;
    const prototype = handlerClass.prototype as object;
    const descriptor = Object.getOwnPropertyDescriptor(prototype, methodName) as PropertyDescriptor;
    const declared = (Reflect.getMetadata(VISIBLE_METADATA, handler) ?? []) as typeof visible;
    const shown = await this.instances([...declared, ...visible], target);
    Reflect.defineMetadata(VISIBLE_METADATA, shown, descriptor.value as object);
    for (const decorate of [
      UseGuards(...(await this.instances(guards, target))),
      UsePipes(...(await this.instances(pipes, target))),
      UseInterceptors(...(await this.instances(interceptors, target))),
      UseFilters(...(await this.instances(filters, target))),
    ]) {
      decorate(prototype, methodName, descriptor);
    }
    return this.compiler.compile({ metadata: { kind, options } as HandlerMetadata, target });
  }

  /** Nest makes the enhancer classes of decorated methods while it scans; those that come later are made here. */
  private instances<T extends object>(enhancers: (Type<T> | T)[], target: HandlerTarget): Promise<T[]> {
    return Promise.all(
      enhancers.map(async enhancer =>
        typeof enhancer === 'function' ? this.instance(enhancer, target) : enhancer,
      ),
    );
  }

  private async instance<T>(type: Type<T>, target: HandlerTarget): Promise<T> {
    const refuse = (problem: string, cause?: unknown) =>
      Object.assign(new McpBootstrapError(describeTarget(target), `${type.name} ${problem}`), { cause });
    if (this.scopeOf(type) === Scope.REQUEST) {
      throw refuse('is request-scoped, and one instance would serve all calls; use the default scope');
    }
    try {
      return this.moduleRef.get<T>(type, { strict: false });
    } catch {
      return this.moduleRef.create<T>(type).catch((error: unknown) => {
        const [reason] = (error as Error).message.split('\n', 1);
        throw refuse(`cannot be made (${reason}); list it in providers, or pass an instance`, error);
      });
    }
  }

  /** The scope of a provider, its dependencies considered; of any other class, what it declares. */
  private scopeOf(type: Type): Scope {
    try {
      return this.moduleRef.introspect(type).scope;
    } catch {
      const options = Reflect.getMetadata(SCOPE_OPTIONS_METADATA, type) as { scope?: Scope } | undefined;
      return options?.scope ?? Scope.DEFAULT;
    }
  }
}

const rowKey = (key: string | CompletionRef): string =>
  typeof key === 'string' ? key : keyOfCompletion(key);

const unknownHandler = ({ options }: McpServerInstance, kind: HandlerKind, key: string): McpBootstrapError =>
  new McpBootstrapError(
    'McpServerRegistry',
    `the server "${options.name}" has no ${kind} ${JSON.stringify(key)}`,
  );
