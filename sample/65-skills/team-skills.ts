import { Injectable } from '@nestjs/common';
import { McpContext } from 'nestjs-mcp';
import { skillEntry, SkillSource } from 'nestjs-mcp/skills';

/** What a database would hold: the `SKILL.md` of each team. */
const TEAMS: Record<string, string> = {
  desk: '---\nname: greeting\ndescription: Says how the desk greets customers\n---\n\nSay "Good day".\n',
};

/** Each team finds its own skill. */
@SkillSource()
@Injectable()
export class TeamSkills implements SkillSource {
  async list(ctx: McpContext) {
    const text = this.textFor(ctx);
    return text === undefined ? [] : [await skillEntry('team/greeting', { 'SKILL.md': text })];
  }

  read(uri: string, ctx: McpContext) {
    return uri === 'skill://team/greeting/SKILL.md' ? this.textFor(ctx) : undefined;
  }

  /** An application takes the team from the caller's token. */
  private textFor({ headers }: McpContext): string | undefined {
    return TEAMS[String(headers['x-team'])];
  }
}
