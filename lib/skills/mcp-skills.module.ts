import { Inject, Module, type DynamicModule } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { HandlerExecutor } from '../execution/handler-executor.js';
import { McpCoreModule } from '../module/mcp-core.module.js';
import { McpServerRegistry } from '../module/mcp-server-registry.js';
import { MCP_SERVERS, type McpServers } from '../module/mcp-servers.js';
import type { AsyncOptions } from '../options/async-options.js';
import { sourcesIn } from './bind-source.js';
import { McpSkills } from './mcp-skills.js';
import { SkillFolder } from './skill-folder.js';
import {
  publicProblem,
  resolveSkillsOptions,
  type McpSkillsOptions,
  type SkillSettings,
} from './skill-options.js';
import { SkillsExtension } from './skills-extension.js';

const SETTINGS = 'nestjs-mcp:skills-settings';

/**
 * Serves skills: folders with a `SKILL.md` that tell a model how to do something (SEP-2640). Import it once for each server.
 * @example
 * ```ts
 * @Module({
 *   imports: [
 *     McpModule.forRoot({ name: 'orders', version: '1.0.0' }),
 *     McpSkillsModule.forRoot({ dir: 'skills' }),
 *   ],
 * })
 * export class AppModule {}
 * ```
 */
@Module({})
export class McpSkillsModule {
  /** @internal Nest creates it. */
  constructor(
    @Inject(SETTINGS) settings: SkillSettings | undefined,
    @Inject(MCP_SERVERS) servers: McpServers,
    skills: McpSkills,
    registry: McpServerRegistry,
    modules: ModulesContainer,
    moduleRef: ModuleRef,
  ) {
    // Without settings, they are wrong, and the application does not start.
    if (!settings) return;
    servers.extend({
      server: settings.server,
      where: 'McpSkillsModule',
      create: ({ options }) => {
        const executor = moduleRef.get(HandlerExecutor, { strict: false });
        const bound = sourcesIn(modules, executor, options.name);
        const problem = bound.length > 0 ? publicProblem(settings.cache) : undefined;
        const none = 'it has no skills: give "dir", or add a provider with @SkillSource()';
        const mistake = bound.length + skills.folders.length === 0 ? none : problem;
        if (mistake !== undefined) throw new McpBootstrapError('McpSkillsModule', mistake);
        return skills.add(new SkillsExtension(settings, [...skills.folders, ...bound], registry));
      },
    });
  }

  /** @throws McpBootstrapError, while the application starts, for wrong options, and for skills that hosts would refuse */
  static forRoot(options: McpSkillsOptions = {}): DynamicModule {
    return moduleOf({ useFactory: () => options });
  }

  /** Like `forRoot`, with options from a factory. */
  static forRootAsync(options: AsyncOptions<McpSkillsOptions>): DynamicModule {
    return moduleOf(options);
  }
}

const moduleOf = (options: AsyncOptions<McpSkillsOptions>): DynamicModule => ({
  module: McpSkillsModule,
  imports: [McpCoreModule, ...(options.imports ?? [])],
  exports: [McpSkills],
  providers: [
    McpSkills,
    {
      provide: SETTINGS,
      inject: [MCP_SERVERS, McpSkills, ...(options.inject ?? [])],
      useFactory: async ({ mistakes }: McpServers, skills: McpSkills, ...dependencies: never[]) => {
        const given = await options.useFactory(...dependencies);
        const settings = mistakes.attempt(() => resolveSkillsOptions(given));
        const isLoaded = settings && (await mistakes.collect(() => loadFolders(settings, skills)));
        return isLoaded ? settings : undefined;
      },
    },
  ],
});

/** @throws McpBootstrapError for a folder that cannot be read, and for two skills with one URI */
async function loadFolders(settings: SkillSettings, skills: McpSkills): Promise<void> {
  for (const dir of settings.dirs) {
    const folder = new SkillFolder(dir, settings, skills.publish);
    await folder.load();
    const taken = new Set(skills.folders.flatMap(({ uris }) => uris));
    const twice = folder.uris.find(uri => taken.has(uri));
    if (twice !== undefined) {
      throw new McpBootstrapError(
        'McpSkillsModule',
        `two folders of "dir" have the skill ${twice}; rename one`,
      );
    }
    skills.folders.push(folder);
  }
}
