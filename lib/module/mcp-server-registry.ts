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
import { Args, Ctx, UriParams } from '../decorators/params.decorator.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { describeTarget, type HandlerTarget, type Method } from '../execution/handler-target.js';
import { assertCompletes, assertOffered, assertProtected, claimOptions } from './entry-checks.js';
import { McpServers } from './mcp-servers.js';
import type { ServerDraft } from './server-draft.js';

/** Nest's key for the scope of a class. */
const SCOPE_OPTIONS_METADATA = 'scope:options';

/** The parameter decorators that stand for the parameters of a runtime handler's function. */
const PARAMETERS: Partial<Record<HandlerKind, readonly ParameterDecorator[]>> = {
  tool: [Args(), Ctx()],
  prompt: [Args(), Ctx()],
  'resource template': [UriParams(), Ctx()],
};

/**
 * Enhancers of a handler added at run time, in addition to global enhancers. A class is taken from the application's
 * providers, or created. Pipes run on the arguments of a tool or a prompt.
 */
export interface HandlerEnhancers {
  /** As with `@UseGuards`. Default: none. */
  guards?: (Type<CanActivate> | CanActivate)[];
  /** As with `@Visible`. Default: none. */
  visible?: (Type<CanActivate> | CanActivate)[];
  /** As with `@UsePipes`. Default: none. */
  pipes?: (Type<PipeTransform> | PipeTransform)[];
  /** As with `@UseInterceptors`: Nest interceptors, not validators or mutators. Default: none. */
  interceptors?: (Type<NestInterceptor> | NestInterceptor)[];
  /** As with `@UseFilters`. Default: none. */
  filters?: (Type<ExceptionFilter> | ExceptionFilter)[];
}

/**
 * Options of a handler added at run time: the options of its decorator, and its enhancers. `name` is required for tools
 * and prompts.
 */
export type RuntimeHandlerOptions<K extends HandlerKind> = HandlerOptionsByKind[K] &
  HandlerEnhancers &
  (K extends 'tool' | 'prompt' ? { name: string } : unknown);

/**
 * Identifies a handler: the name of a tool or prompt, the URI of a resource, the template of a resource template, or
 * the completed argument of a completion.
 */
export type HandlerKey<K extends HandlerKind> = K extends 'completion' ? CompletionRef : string;

/**
 * The function of a handler added at run time. It receives the arguments of an undecorated method:
 *
 * - a tool and a prompt: the arguments and the `McpContext`;
 * - a resource: undefined or the URI's variables, and the `McpContext`;
 * - a completion: the text, the other arguments and the `McpContext`.
 *
 * Guards see metadata that `SetMetadata(...)(handler)` writes. `Visible(...)(handler)` and
 * `RequireScopes(...)(handler)` work, too.
 */
export type RuntimeHandler = (...args: never[]) => unknown;

/**
 * Changes the handlers of a running server. Clients receive `list_changed` notifications.
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
  /** @internal Nest creates it. */
  constructor(
    private readonly servers: McpServers,
    private readonly compiler: HandlerCompiler,
    private readonly moduleRef: ModuleRef,
  ) {}

  /**
   * Adds a handler. While the application starts, it is added after the decorated handlers.
   * @param kind `tool`, `prompt`, `resource`, `resource template` or `completion`
   * @param options the options of the decorator; `server` selects the server; a tool or prompt whose function has
   * parameters needs a schema
   * @throws McpBootstrapError if a handler with this name exists, or the options are invalid
   */
  async add<K extends HandlerKind>(
    kind: K,
    options: RuntimeHandlerOptions<K>,
    handler: RuntimeHandler,
  ): Promise<void> {
    // Waits for global guards: `app.useGlobalGuards()` is called after the providers are created.
    if (!this.servers.started) return void this.servers.onStart(() => this.add(kind, options, handler));
    const draft = this.draftOf(options.server);
    const entry = await this.compile(kind, options, handler);
    assertOffered(entry, draft);
    assertCompletes(entry, draft);
    assertProtected(entry, draft);
    claimOptions(entry, draft);
    draft.table.add(entry, 'use replace() to change it');
    this.changed(draft, kind);
  }

  /**
   * Replaces the handler with the same name.
   * @throws McpBootstrapError if the handler does not exist, or the options are invalid
   */
  async replace<K extends HandlerKind>(
    kind: K,
    options: RuntimeHandlerOptions<K>,
    handler: RuntimeHandler,
  ): Promise<void> {
    const draft = this.draftOf(options.server);
    const entry = await this.compile(kind, options, handler);
    assertProtected(entry, draft);
    claimOptions(entry, draft);
    if (!draft.table.replace(entry)) throw unknownHandler(draft, kind, entry.key);
    this.changed(draft, kind);
  }

  /**
   * Enables a disabled handler.
   * @throws McpBootstrapError if the handler does not exist
   */
  enable<K extends HandlerKind>(kind: K, key: HandlerKey<K>, server?: string): void {
    this.setEnabled(kind, key, true, server);
  }

  /**
   * Hides a handler: the server neither lists nor serves it, as if it did not exist. Running calls end as usual.
   * @throws McpBootstrapError if the handler does not exist
   */
  disable<K extends HandlerKind>(kind: K, key: HandlerKey<K>, server?: string): void {
    this.setEnabled(kind, key, false, server);
  }

  /**
   * Removes a handler. Running calls end as usual.
   * @throws McpBootstrapError if the handler does not exist
   */
  remove<K extends HandlerKind>(kind: K, key: HandlerKey<K>, server?: string): void {
    const draft = this.draftOf(server);
    if (!draft.table.remove(kind, rowKey(key))) throw unknownHandler(draft, kind, rowKey(key));
    this.changed(draft, kind);
  }

  /** Notifies every client that subscribed to the resource of its change. */
  resourceUpdated(uri: string, server?: string): void {
    this.draftOf(server).server?.changes.resourceUpdated(uri);
  }

  private setEnabled(
    kind: HandlerKind,
    key: string | CompletionRef,
    enabled: boolean,
    server: string | undefined,
  ): void {
    const draft = this.draftOf(server);
    if (!draft.table.setEnabled(kind, rowKey(key), enabled)) throw unknownHandler(draft, kind, rowKey(key));
    this.changed(draft, kind);
  }

  private changed({ server }: ServerDraft, kind: HandlerKind): void {
    // Nobody has seen the handlers of a server that is not built yet.
    if (!server) return;
    server.publish();
    if (kind === 'tool') server.changes.toolsChanged();
    else if (kind === 'prompt') server.changes.promptsChanged();
    else if (kind !== 'completion') server.changes.resourcesChanged();
  }

  private draftOf(name: string | undefined): ServerDraft {
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

  /**
   * Creates enhancer classes of handlers added at run time. Nest only creates the classes that it finds while it scans.
   */
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

  /** The scope of a provider, including its dependencies. For other classes, the scope that they declare. */
  private scopeOf(type: Type): Scope {
    try {
      return this.moduleRef.introspect(type).scope;
    } catch {
      const options = Reflect.getMetadata(SCOPE_OPTIONS_METADATA, type) as { scope?: Scope } | undefined;
      return options?.scope ?? Scope.DEFAULT;
    }
  }
}

/** Creates a class with one method for a function, so that it runs like a method of a provider. */
function runtimeTarget(
  kind: HandlerKind,
  { name, uri }: { name?: string; uri?: string },
  handler: Method,
): HandlerTarget {
  class RuntimeHandler {}
  const { prototype } = RuntimeHandler;
  const methodName = name ?? (handler.name || (uri ?? kind));
  const method: Method = (...args) => handler(...args);
  Object.defineProperty(method, 'name', { value: methodName });
  Object.defineProperty(method, 'length', { value: handler.length });
  Object.defineProperty(prototype, methodName, { value: method });
  for (const key of Reflect.getMetadataKeys(handler) as unknown[]) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, handler), method);
  }
  PARAMETERS[kind]?.forEach((decorate, index) => decorate(prototype, methodName, index));
  return { instance: new RuntimeHandler(), methodName, handlerClass: RuntimeHandler, moduleKey: '' };
}

const rowKey = (key: string | CompletionRef): string =>
  typeof key === 'string' ? key : keyOfCompletion(key);

const unknownHandler = ({ options }: ServerDraft, kind: HandlerKind, key: string): McpBootstrapError =>
  new McpBootstrapError(
    'McpServerRegistry',
    `the server "${options.name}" does not have the ${kind} ${JSON.stringify(key)}; add it first`,
  );
