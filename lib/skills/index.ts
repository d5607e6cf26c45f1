export { McpSkillsModule } from './mcp-skills.module.js';
export { McpSkills } from './mcp-skills.js';
export { skillEntry } from './skill-entry.js';
export type { McpSkillsOptions } from './skill-options.js';
export { SkillSource, type SkillSourceOptions } from './skill-source.js';
