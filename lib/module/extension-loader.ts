import type { Type } from '@nestjs/common';
import type { DeclaredExtension, HandlerExplorer } from '../catalog/explorer.js';
import { compileExtensionMethod } from '../catalog/extension-method.js';
import { located } from '../catalog/handler-compiler.js';
import type { ExtensionMethodMetadata, McpExtensionOptions } from '../decorators/extension.decorators.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { DeclaredMethod } from '../execution/explore-methods.js';
import type { HandlerExecutor } from '../execution/handler-executor.js';
import { resolve } from '../options/check-options.js';
import { objectOf, TEXT } from '../options/option-schema.js';
import { ApplicationExtension } from './application-extension.js';
import { assertDistinct, type McpServers } from './mcp-servers.js';

/** An identifier with the prefix of its owner, such as `com.acme/search`. */
const ID = /^[a-z\d]([\w.-]*[a-z\d])?\/[\w.-]+$/i;

const OPTIONS = objectOf<McpExtensionOptions>({
  id: {
    type: 'string',
    problem: (id: string) =>
      ID.test(id) ? undefined : `the id "${id}" has no prefix; write it as "com.acme/search"`,
  },
  settings: { type: 'object', problem: unsendable },
  server: TEXT,
});

/** Adds the extensions of the application to their servers. It is loaded if there are some. */
export class ExtensionLoader {
  constructor(
    private readonly executor: HandlerExecutor,
    private readonly servers: McpServers,
    private readonly explorer: HandlerExplorer,
  ) {}

  /** Collects the mistakes in the declarations. @throws other errors */
  async load(extensions: ReadonlyMap<object, DeclaredExtension>): Promise<void> {
    const { mistakes } = this.servers;
    const methods = this.explorer.extensionMethods();
    const classes = new Set<unknown>();
    for (const [instance, declared] of extensions) {
      const type = instance.constructor;
      if (classes.has(type)) {
        mistakes.add(
          new McpBootstrapError(
            type.name,
            'two modules have it; list it in the providers of one module only',
          ),
        );
        continue;
      }
      classes.add(type);
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
    const { id, server } = resolve(OPTIONS, options, refuse);
    // Of a request-scoped class, there is only the prototype, without the fields of an instance.
    if (!wrapper.isDependencyTreeStatic() && ('stages' in instance || methods.length === 0)) {
      throw refuse(
        'a server has one extension for all calls, so a class with "stages" needs the default scope',
      );
    }
    if (methods.some(({ target }) => target.methodName === 'stages')) {
      throw refuse('"stages" is the function of an extension, so the method needs another name');
    }
    const entries = await Promise.all(
      methods.map(({ metadata, target }) =>
        located(target, () => compileExtensionMethod(this.executor, metadata, target)),
      ),
    );
    assertDistinct(
      entries.map(({ key }) => key),
      name,
    );
    const undeclarable = entries.find(({ requireClient }) => requireClient && id === undefined);
    if (undeclarable) throw refuse(`"requireClient" of "${undeclarable.key}" needs an "id" to declare`);
    const featured = this.explorer.serversOf(instance.constructor as Type);
    const targets = server === undefined && featured.length > 0 ? featured : [server];
    for (const target of targets) {
      this.servers.extend({
        // Without a name, `forFeature` means the first server.
        server: target ?? (targets === featured ? this.servers.names[0] : undefined),
        where: `@McpExtension(${target === undefined ? '' : `{ server: "${target}" }`}) of ${name}`,
        create: () => new ApplicationExtension(instance, options, entries),
      });
    }
  }
}

/** Why the settings cannot be sent. */
function unsendable(settings: object): string | undefined {
  try {
    JSON.stringify(settings);
    return undefined;
  } catch (error) {
    return `its "settings" are no JSON: ${(error as Error).message}`;
  }
}
