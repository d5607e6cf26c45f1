import type { CacheHint } from '@modelcontextprotocol/server';
import type { Skill } from '@modelcontextprotocol/server/ext/skills';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { McpContext } from '../execution/mcp-context.js';
import { resolve } from '../options/check-options.js';
import { FLAG, FUNCTION, listOf, objectOf, oneOf, TEXT, TEXTS } from '../options/option-schema.js';

/** Options of `McpSkillsModule`. */
export interface McpSkillsOptions {
  /**
   * Folders of skills, relative to the working directory. Each folder in them with a `SKILL.md` is a skill. Default: none, so
   * that providers with `@SkillSource()` serve all skills.
   */
  dir?: string | string[];
  /** What the URIs of the skills in `dir` begin with: `acme` makes `skill://acme/orders/SKILL.md`. Default: nothing. */
  prefix?: string;
  /**
   * Whether a skill that hosts would refuse stops the start, with the file and the reason. False: a warning is logged, and
   * the skill is left out. Default: true.
   */
  strict?: boolean;
  /**
   * Whether a caller finds a skill of `dir`. Others do not find it in lists, and can neither get nor read it. The files of a
   * skill within another one belong to both. Default: everybody finds all skills.
   */
  visible?: (skill: Skill, ctx: McpContext) => boolean | Promise<boolean>;
  /** Scopes that the caller's token needs for all skills. Needs `McpAuthModule`. Default: none. */
  scopes?: string[];
  /**
   * How long clients may keep lists and entries, in milliseconds, and for whom (2026-07-28). Default: `ttlMs: 0` and
   * `cacheScope: 'private'`.
   */
  cache?: CacheHint;
  /** Name of the server. Default: all servers of the application. */
  server?: string;
}

export type SkillSettings = Readonly<
  Required<Pick<McpSkillsOptions, 'strict' | 'scopes'>> &
    Pick<McpSkillsOptions, 'prefix' | 'visible' | 'server'>
> & { readonly dirs: readonly string[]; readonly cache: Required<CacheHint> };

export const SKILLS = objectOf<McpSkillsOptions, McpSkillsOptions & Pick<SkillSettings, 'strict' | 'scopes'>>(
  {
    dir: TEXTS,
    prefix: {
      type: 'string',
      pattern: '^[a-z\\d][\\w.-]*(/[\\w-][\\w.-]*)*$',
      description: 'names with "/" between them, such as "acme" or "acme/billing"',
    },
    strict: { ...FLAG, default: true },
    visible: FUNCTION,
    scopes: { ...listOf(TEXT), default: [] },
    cache: objectOf<CacheHint>({
      ttlMs: { type: 'integer', minimum: 0 },
      cacheScope: oneOf('public', 'private'),
    }),
    server: TEXT,
  },
  {
    title: 'options',
    problem: ({ visible, scopes = [], cache }: McpSkillsOptions) =>
      visible !== undefined || scopes.length > 0 ? publicProblem(cache) : undefined,
  },
);

/** Why a cache must not be shared by callers who find different skills. */
export const publicProblem = (cache: CacheHint | undefined): string | undefined =>
  cache?.cacheScope === 'public'
    ? '"cache.cacheScope" must be "private", because callers find different skills'
    : undefined;

/** @throws McpBootstrapError for an option that is unknown or wrong */
export function resolveSkillsOptions(options: McpSkillsOptions): SkillSettings {
  const {
    dir = [],
    cache,
    ...others
  } = resolve(SKILLS, options, problem => new McpBootstrapError('McpSkillsModule', problem));
  return { ...others, dirs: [dir].flat(), cache: { ttlMs: 0, cacheScope: 'private', ...cache } };
}
