import { Injectable, type DynamicModule, type OnModuleInit } from '@nestjs/common';
import type { CompletionEntry } from '../catalog/entries.js';
import { HandlerExplorer, type DiscoveredHandler } from '../catalog/explorer.js';
import { HandlerCompiler } from '../catalog/handler-compiler.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { describeTarget } from '../execution/handler-target.js';
import { LateProviders } from '../execution/late-providers.js';
import type { McpServerHost } from './mcp-server-host.js';
import { McpServers } from './mcp-servers.js';

/** Finds, compiles and hands out all decorated handlers, once, while the application starts. */
@Injectable()
export class HandlerLoader implements OnModuleInit {
  constructor(
    private readonly explorer: HandlerExplorer,
    private readonly compiler: HandlerCompiler,
    private readonly servers: McpServers,
    private readonly late: LateProviders,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.provideFeatures();
    for (const handler of this.explorer.explore()) {
      this.hostOf(handler).table.add(await this.compiler.compile(handler));
    }
    for (const host of this.servers.all()) {
      host.publish();
      assertCompletionsResolve(host);
    }
  }

  /** Instantiates the classes that `forFeature` was given and no module provides. */
  private async provideFeatures(): Promise<void> {
    for (const { handlers, imports } of this.explorer.features()) {
      const missing = handlers.filter(type => !this.explorer.isProvided(type));
      if (missing.length === 0) continue;
      class McpFeatureHandlers {}
      const definition = { module: McpFeatureHandlers, imports: imports as Type[], providers: missing };
      const module = await this.lazyModules.load(() => definition);
      // Nest calls a lazy module's other hooks, but by now it is past this one.
      for (const type of missing) await module.get<Partial<OnModuleInit>>(type).onModuleInit?.();
    }
  }

  private hostOf({ metadata, target, featureServer }: DiscoveredHandler): McpServerHost {
    const name = metadata.options.server ?? featureServer;
    const host = this.servers.get(name);
    if (host) return host;
    throw new McpBootstrapError(
      describeTarget(target),
      `there is no MCP server "${name}"; servers are ${this.servers.names.map(known => `"${known}"`).join(', ')}`,
    );
  }
}

function assertCompletionsResolve({ catalog, table, options }: McpServerHost): void {
  for (const entry of table.enabled()) {
    if (entry.kind !== 'completion' || resolves(entry, catalog)) continue;
    const { prompt, resourceTemplate } = entry.ref;
    throw new McpBootstrapError(
      entry.where,
      `it completes "${entry.argument}" of "${prompt ?? resourceTemplate}", which the server "${options.name}" does not have`,
    );
  }
}

function resolves({ ref, argument }: CompletionEntry, catalog: McpServerHost['catalog']): boolean {
  if (ref.prompt !== undefined) {
    const prompt = catalog.prompts.get(ref.prompt);
    const names = prompt?.definition.arguments?.map(({ name }) => name);
    return prompt !== undefined && (names === undefined || names.includes(argument));
  }
  return (
    catalog.resourceTemplates.get(ref.resourceTemplate ?? '')?.template.variables.includes(argument) ?? false
  );
}
