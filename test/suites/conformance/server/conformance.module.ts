import { join } from 'node:path';
import { Module, type DynamicModule } from '@nestjs/common';
import { McpModule, type McpModuleOptions } from 'nestjs-mcp';
import { McpAppsModule } from 'nestjs-mcp/apps';
import { McpSkillsModule } from 'nestjs-mcp/skills';
import { McpTasksModule } from 'nestjs-mcp/tasks';
import { Apps } from './apps.js';
import { Diagnostics } from './diagnostics.js';
import { ElicitationTools } from './elicitation.js';
import { InputRequired } from './input-required.js';
import { Prompts } from './prompts.js';
import { Resources } from './resources.js';
import { TaskTools } from './tasks.js';
import { Tools } from './tools.js';

/** The skills stay with the sources of the server, which is built to `dist`. */
const SKILLS = join(__dirname, '../../../../test/suites/conformance/server/skills');

/** A server with everything that the official conformance suite looks for. */
@Module({})
export class ConformanceModule {
  static register(legacy?: McpModuleOptions['legacy']): DynamicModule {
    return {
      module: ConformanceModule,
      imports: [
        McpModule.forRoot({ name: 'conformance', version: '1.0.0', legacy }),
        McpTasksModule.forRoot({ pollIntervalMs: 100 }),
        McpSkillsModule.forRoot({ dir: SKILLS }),
        McpAppsModule.forRoot(),
      ],
      providers: [Tools, ElicitationTools, InputRequired, Diagnostics, Resources, Prompts, TaskTools, Apps],
    };
  }
}
