import { skillEntry as entryOf, type Skill } from '@modelcontextprotocol/server/ext/skills';

/**
 * Makes the entry of a skill from its files, with their sizes and digests. For a `SkillSource`.
 * @param path of the skill, which ends with its name: `acme/orders` becomes `skill://acme/orders/SKILL.md`
 * @param files by their path in the skill; one is `SKILL.md`
 * @throws Error for a skill that hosts would refuse
 * @example
 * ```ts
 * const skill = await skillEntry('team/refunds', { 'SKILL.md': row.text, 'references/limits.md': row.limits });
 * ```
 */
export const skillEntry = (path: string, files: Record<string, string | Uint8Array>): Promise<Skill> =>
  entryOf(path, files);
