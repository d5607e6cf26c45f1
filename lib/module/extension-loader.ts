import { Injectable } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { ExtensionMethodMetadata, McpExtensionOptions } from '../decorators/extension.decorators.js';
import { EXTENSION_METADATA, EXTENSION_METHOD_METADATA } from '../decorators/metadata.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { exploreMethods, type DeclaredMethod } from '../execution/explore-methods.js';
import { HandlerExecutor } from '../execution/handler-executor.js';
import { describeTarget, type Wrapper } from '../execution/handler-target.js';
import { assertDistinct, McpServers } from './mcp-servers.js';

/** An identifier with the prefix of its owner, such as `com.acme/search`. */
const ID = /^[a-z\d]([\w.-]*[a-z\d])?\/[\w.-]+$/i;

const readMethods = (method: object): readonly ExtensionMethodMetadata[] =>
  (Reflect.getMetadata(EXTENSION_METHOD_METADATA, method) ?? []) as ExtensionMethodMetadata[];

interface Declared {
  readonly options: McpExtensionOptions;
  readonly wrapper: Wrapper;
}

/** Finds the providers with `@McpExtension`, and adds them to their servers. */
@Injectable()
export class ExtensionLoader {
  constructor(
    private readonly modules: ModulesContainer,
    private readonly executor: HandlerExecutor,
    private readonly servers: McpServers,
  ) {}

  /** Collects the mistakes in the declarations. @throws other errors */
  async load(): Promise<void> {
    const { mistakes } = this.servers;
    const methods = [...exploreMethods(this.modules, readMethods)];
    const extensions = this.declared();
    for (const { target } of methods) {
      if (extensions.has(target.instance)) continue;
      const where = describeTarget(target);
      mistakes.add(
        new McpBootstrapError(where, 'its class needs @McpExtension(), so that servers have the method'),
      );
    }
    for (const [instance, declared] of extensions) {
      const own = methods.filter(({ target }) => target.instance === instance);
      await mistakes.collect(() => this.add(instance, declared, own));
    }
  }

  /** @throws McpBootstrapError for a mistake in the declaration */
  private async add(
    instance: object,
    { options, wrapper }: Declared,
    methods: readonly DeclaredMethod<ExtensionMethodMetadata>[],
  ): Promise<void> {
    const { id, server } = options;
    const { name } = instance.constructor;
    const refuse = (problem: string) => new McpBootstrapError(name, problem);
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

  private declared(): Map<object, Declared> {
    const found = new Map<object, Declared>();
    for (const module of this.modules.values()) {
      for (const wrapper of module.providers.values()) {
        const instance: unknown = wrapper.isAlias ? undefined : wrapper.instance;
        if (typeof instance !== 'object' || instance === null) continue;
        const options = Reflect.getMetadata(EXTENSION_METADATA, instance.constructor) as
          McpExtensionOptions | undefined;
        if (options) found.set(instance, { options, wrapper });
      }
    }
    return found;
  }
}
