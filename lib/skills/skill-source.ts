import type { DirectoryResource, Skill } from '@modelcontextprotocol/server/ext/skills';
import { ENTRY_PROVIDER_WATERMARK } from '../decorators/metadata.js';
import type { McpContext } from '../execution/mcp-context.js';

export const SOURCE_METADATA = 'nestjs-mcp:skill-source';

type MaybePromise<T> = T | Promise<T>;

/** What a class with `@SkillSource()` does. */
export interface SkillSource {
  /** The skills that lists show to the caller. `skillEntry` makes the entries. Their URIs begin with `skill://`. */
  list(ctx: McpContext): MaybePromise<readonly Skill[]>;
  /**
   * A skill that the caller may use, listed or not. Default: one of `list`.
   * @param uri of its `SKILL.md`
   */
  get?(uri: string, ctx: McpContext): MaybePromise<Skill | undefined>;
  /** The content of a file; undefined if the caller may not read it, or it does not exist. */
  read(uri: string, ctx: McpContext): MaybePromise<string | Uint8Array | undefined>;
  /**
   * What is in a folder, without what is deeper; undefined if it is no folder. Default: as the `resources` of the skill
   * say, so that only a skill with `"dynamic"` resources needs it.
   * @param uri without a slash at the end
   */
  readDirectory?(uri: string, ctx: McpContext): MaybePromise<readonly DirectoryResource[] | undefined>;
}

/** Options of `@SkillSource`. */
export interface SkillSourceOptions {
  /** Name of the server. Default: all servers with `McpSkillsModule`. */
  server?: string;
}

/**
 * Makes a provider serve skills from elsewhere, for each caller. It may be request-scoped. If its guards, `@Visible` or
 * `@RequireScopes` refuse a caller, the caller finds none of its skills. Needs `McpSkillsModule`.
 * @example
 * ```ts
 * @SkillSource()
 * @Injectable()
 * export class TeamSkills implements SkillSource {
 *   constructor(private readonly teams: TeamService) {}
 *
 *   list({ authInfo }: McpContext) {
 *     return this.teams.skillsOf(authInfo);
 *   }
 *
 *   read(uri: string, { authInfo }: McpContext) {
 *     return this.teams.fileOf(authInfo, uri);
 *   }
 * }
 * ```
 */
export const SkillSource =
  (options: SkillSourceOptions = {}): ClassDecorator =>
  type => {
    Reflect.defineMetadata(SOURCE_METADATA, options, type);
    // Nest creates request-scoped guards only for such providers.
    Reflect.defineMetadata(ENTRY_PROVIDER_WATERMARK, true, type);
  };

/** A source with all functions. */
export type WholeSource = {
  readonly [K in keyof SkillSource]-?: (
    ...args: Parameters<Required<SkillSource>[K]>
  ) => Promise<Awaited<ReturnType<Required<SkillSource>[K]>>>;
};

/** The skill that a URI belongs to, the innermost first. @param uri of a folder */
export async function* skillsAround(
  uri: string,
  get: (uri: string) => MaybePromise<Skill | undefined>,
): AsyncGenerator<Skill> {
  const [scheme, path] = uri.split('://', 2);
  if (path === undefined) return;
  for (let names = path.split('/'); names.length > 0; names = names.slice(0, -1)) {
    const skill = await get(`${scheme}://${names.join('/')}/SKILL.md`);
    if (skill) yield skill;
  }
}
