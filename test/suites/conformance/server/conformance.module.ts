import { Module, type DynamicModule } from '@nestjs/common';
import { McpModule, type McpModuleOptions } from 'nestjs-mcp';
import { McpTasksModule } from 'nestjs-mcp/tasks';
import { Diagnostics } from './diagnostics.js';
import { ElicitationTools } from './elicitation.js';
import { InputRequired } from './input-required.js';
import { Prompts } from './prompts.js';
import { Resources } from './resources.js';
import { TaskTools } from './tasks.js';
import { Tools } from './tools.js';

/** A server with everything that the official conformance suite looks for. */
@Module({})
export class ConformanceModule {
  static register(legacy?: McpModuleOptions['legacy']): DynamicModule {
    return {
      module: ConformanceModule,
      imports: [
        McpModule.forRoot({ name: 'conformance', version: '1.0.0', legacy }),
        McpTasksModule.forRoot({ pollIntervalMs: 100 }),
      ],
      providers: [Tools, ElicitationTools, InputRequired, Diagnostics, Resources, Prompts, TaskTools],
    };
  }
}
