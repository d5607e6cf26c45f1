import { Module } from '@nestjs/common';
import { Client, Connection } from '@temporalio/client';
import { McpModule } from 'nestjs-mcp';
import { McpRedisModule } from 'nestjs-mcp/redis';
import { McpTasksModule, type TaskRunner } from 'nestjs-mcp/tasks';
import { CatalogTools } from '../start/catalog.tools.js';

// #region runner
const runnerOf = ({ workflow }: Client): TaskRunner => ({
  start: task =>
    workflow.start('runTask', {
      taskQueue: 'mcp-tasks',
      workflowId: `${task.id}-${task.run}`,
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [task],
    }),
});

@Module({
  imports: [
    McpModule.forRoot({ name: 'shop', version: '1.0.0' }),
    McpRedisModule.forRoot({ url: 'redis://localhost:6379', prefix: 'shop:' }),
    McpTasksModule.forRootAsync({
      useFactory: async () => {
        const address = 'localhost:7233';
        const connection = await Connection.connect({ address });
        return { runner: runnerOf(new Client({ connection })) };
      },
    }),
  ],
  providers: [CatalogTools],
})
export class AppModule {}
// #endregion runner
