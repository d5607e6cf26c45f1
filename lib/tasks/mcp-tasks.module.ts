import { Inject, Module, type DynamicModule } from '@nestjs/common';
import { SHARED, type SharedState } from '../stores/shared-state.js';
import { McpCoreModule } from '../module/mcp-core.module.js';
import { MCP_SERVERS, type McpServers } from '../module/mcp-servers.js';
import type { AsyncOptions } from '../options/async-options.js';
import { addToContext } from './task-context.js';
import { resolveTasksOptions, type McpTasksOptions, type TaskSettings } from './task-options.js';
import { McpTasks } from './mcp-tasks.js';
import { TasksExtension } from './tasks-extension.js';

const SETTINGS = 'nestjs-mcp:tasks-settings';

/**
 * Lets calls of tools become tasks, which outlive their request (SEP-2663, for clients of 2026-07-28). Import it once, in
 * any module.
 * @example
 * ```ts
 * @Module({
 *   imports: [McpModule.forRoot({ name: 'reports', version: '1.0.0' }), McpTasksModule.forRoot()],
 *   providers: [Reports],
 * })
 * export class AppModule {}
 * ```
 */
@Module({})
export class McpTasksModule {
  static {
    addToContext();
  }

  /** @internal Nest creates it. */
  constructor(
    @Inject(SETTINGS) settings: TaskSettings | undefined,
    @Inject(MCP_SERVERS) servers: McpServers,
    tasks: McpTasks,
  ) {
    // Without settings, they are wrong, and the application does not start.
    if (!settings) return;
    servers.extend({
      where: 'McpTasksModule',
      create: () => tasks.add(new TasksExtension(settings)),
    });
  }

  /** @throws McpBootstrapError, while the application starts, for wrong options */
  static forRoot(options: McpTasksOptions = {}): DynamicModule {
    return moduleOf({ useFactory: () => options });
  }

  /** Like `forRoot`, with options from a factory. */
  static forRootAsync(options: AsyncOptions<McpTasksOptions>): DynamicModule {
    return moduleOf(options);
  }
}

const moduleOf = (options: AsyncOptions<McpTasksOptions>): DynamicModule => ({
  module: McpTasksModule,
  imports: [McpCoreModule, ...(options.imports ?? [])],
  exports: [McpTasks],
  providers: [
    McpTasks,
    {
      provide: SETTINGS,
      inject: [MCP_SERVERS, { token: SHARED, optional: true }, ...(options.inject ?? [])],
      useFactory: async (
        { mistakes }: McpServers,
        shared: SharedState | undefined,
        ...dependencies: never[]
      ) => {
        const given = await options.useFactory(...dependencies);
        return mistakes.attempt(() => resolveTasksOptions(given, shared?.tasks));
      },
    },
  ],
});
