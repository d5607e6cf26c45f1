import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { McpSkillsModule } from 'nestjs-mcp/skills';
import { TeamSkills } from './team-skills.js';

@Module({
  imports: [
    McpModule.forRoot({ name: 'shop', version: '1.0.0' }),
    McpSkillsModule.forRoot({ dir: 'sample/65-skills/skills' }),
  ],
  providers: [TeamSkills],
})
export class AppModule {}
