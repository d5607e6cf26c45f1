import type { ModulesContainer } from '@nestjs/core';
import type { ExtensionMethodMetadata } from '../decorators/extension.decorators.js';
import { EXTENSION_METHOD_METADATA } from '../decorators/metadata.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { exploreMethods, type DeclaredMethod } from '../execution/explore-methods.js';
import type { HandlerExecutor } from '../execution/handler-executor.js';
import type { DeclaredExtension } from './declared-extensions.js';
import { assertDistinct, type McpServers } from './mcp-servers.js';

/** An identifier with the prefix of its owner, such as `com.acme/search`. */
const ID = /^[a-z\d]([\w.-]*[a-z\d])?\/[\w.-]+$/i;

const readMethods = (method: object): readonly ExtensionMethodMetadata[] =>
  (Reflect.getMetadata(EXTENSION_METHOD_METADATA, method) ?? []) as ExtensionMethodMetadata[];

/** Adds the extensions of the application to their servers. It is loaded if there are some. */
export class ExtensionLoader {
  constructor(
    private readonly modules: ModulesContainer,
    private readonly executor: HandlerExecutor,
    private readonly servers: McpServers,
  ) {}

  /** Collects the mistakes in the declarations. @throws other errors */
  async load(extensions: ReadonlyMap<object, DeclaredExtension>): Promise<void> {
    const { mistakes } = this.servers;
    const methods = [...exploreMethods(this.modules, readMethods)];
    for (const [instance, declared] of extensions) {
      const own = methods.filter(({ target }) => target.instance === instance);
      await mistakes.collect(() => this.add(instance, declared, own));
    }
  }

  /** @throws McpBootstrapError for a mistake in the declaration */
  private async add(
    instance: object,
    { options, wrapper }: DeclaredExtension,
    methods: readonly DeclaredMethod<ExtensionMethodMetadata>[],
  ): Promise<void> {
    const { name } = instance.constructor;
    const refuse = (problem: string) => new McpBootstrapError(name, problem);
    if (!options) throw refuse('it has @ExtensionMethod() methods, so it needs @McpExtension()');
    const { id, server } = options;
    if (id !== undefined && !ID.test(id)) {
      throw refuse(`the id "${id}" has no prefix; write it as "com.acme/search"`);
    }
    const { applicationExtension, compileMethods, hasOwnParts } = await import('./application-extension.js');
    if (!wrapper.isDependencyTreeStatic() && hasOwnParts(instance)) {
      throw refuse('a server has one extension for all calls, so its class must have the default scope');
    }
    const entries = await compileMethods(this.executor, methods);
    assertDistinct(
      entries.map(({ key }) => key),
      name,
    );
    const undeclarable = entries.find(({ requireClient }) => requireClient && id === undefined);
    if (undeclarable) throw refuse(`"requireClient" of "${undeclarable.key}" needs an "id" to declare`);
    this.servers.extend({
      server,
      where: `@McpExtension({ server: "${server}" }) of ${name}`,
      create: () => applicationExtension(instance, options, entries),
    });
  }
}
