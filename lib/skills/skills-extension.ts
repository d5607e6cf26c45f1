import type { Result } from '@modelcontextprotocol/server';
import type { Skill } from '@modelcontextprotocol/server/ext/skills';
import { paginate } from '../catalog/catalog.js';
import { SCOPES_METADATA } from '../decorators/metadata.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import { McpContext } from '../execution/mcp-context.js';
import type { McpServerRegistry } from '../module/mcp-server-registry.js';
import type { Stage } from '../protocol/answer.js';
import type { McpCall, Params } from '../protocol/mcp-call.js';
import { requireString, shorten } from '../protocol/params.js';
import type { Requirement } from '../protocol/permissions.js';
import type { OwnMethod, ServerExtension, Stages } from '../protocol/server-extension.js';
import type { McpServerInstance } from '../server/mcp-server-instance.js';
import type { BoundSource } from './bind-source.js';
import { contentsOf, rowOf, uriOf } from './resources.js';
import type { SkillSettings } from './skill-options.js';
import type { WholeSource } from './skill-source.js';

type Source = WholeSource & Partial<Pick<BoundSource, 'where' | 'requirement'>>;

/** Serves skills (SEP-2640) to clients of both eras. Their files are resources of one template. */
export class SkillsExtension implements ServerExtension {
  readonly id = 'io.modelcontextprotocol/skills';
  readonly forOwnHandlers = true;
  readonly methods: Readonly<Record<string, OwnMethod>>;
  private readonly requirement?: Requirement;
  private readonly isPersonal: boolean;
  private server?: McpServerInstance;

  /** @param sources of which the first that knows a URI answers for it */
  constructor(
    private readonly options: SkillSettings,
    private readonly sources: readonly Source[],
    private readonly registry: McpServerRegistry,
  ) {
    const { scopes, visible } = options;
    if (scopes.length > 0) this.requirement = { scopes, anonymous: false };
    this.isPersonal =
      visible !== undefined || scopes.length > 0 || sources.some(({ where }) => where !== undefined);
    this.methods = {
      'skills/list': this.ownMethod(async (ctx, { cursor }) =>
        this.page('skills', await this.list(ctx), cursor),
      ),
      'skills/get': this.ownMethod(async (ctx, params) => ({ skill: await this.get(ctx, params) })),
      'resources/directory/read': this.ownMethod(async (ctx, params) => {
        const uri = requireString(params, 'uri');
        const children = await this.first(ctx, source => source.readDirectory(uri, ctx));
        if (!children) throw invalid(`Not a directory: ${shorten(uri)}`);
        return this.page('resources', children, params['cursor']);
      }),
    };
  }

  settings(): Record<string, unknown> {
    return { directoryRead: true };
  }

  /** @throws McpBootstrapError for a source with scopes on a server that does not check tokens */
  attach(server: McpServerInstance): void {
    this.server = server;
    const { name, http } = server.options;
    const unchecked = this.sources.find(({ requirement }) => requirement && !requirement.anonymous);
    if (unchecked && !server.permissions && http !== false) {
      throw new McpBootstrapError(
        unchecked.where!,
        `it has @RequireScopes(), but no module checks the tokens of the server "${name}"; import McpAuthModule.forRoot()`,
      );
    }
    const read = (variables: { readonly path: string }, ctx: McpContext) => this.read(variables.path, ctx);
    if (this.requirement) Reflect.defineMetadata(SCOPES_METADATA, this.requirement.scopes, read);
    const template = {
      ...{ name: 'skills', uriTemplate: 'skill://{+path}', server: name },
      description: 'Files of the skills of this server',
    };
    // Waits for the start, and collects mistakes.
    void this.registry.add('resource template', template, read);
  }

  stages(method: string): Stages | undefined {
    return method === 'resources/list' ? { answer: this.withSkills } : undefined;
  }

  /** Notifies the clients of a change, also those of other nodes. */
  publish(): void {
    this.server?.changes.resourcesChanged();
  }

  private ownMethod(answer: (ctx: McpContext, params: Params) => Promise<Result>): OwnMethod {
    return {
      where: 'McpSkillsModule',
      isIntercepted: true,
      requirement: this.requirement,
      answer: async (call, params) => {
        const { cache } = this.options;
        const result = await answer(this.contextOf(call), params);
        return call.era === 'modern' ? { ...result, ...cache } : result;
      },
    };
  }

  private contextOf(call: McpCall): McpContext {
    return new McpContext(call, this.server!.changes);
  }

  private page(member: string, items: readonly object[], cursor: unknown): Result {
    const page = paginate(member, items, this.server!.options.pageSize).page(cursor as string | undefined);
    if (!page) throw invalid('Unknown cursor');
    return page;
  }

  private async list(ctx: McpContext): Promise<Skill[]> {
    const lists = await Promise.all(this.sourcesFor(ctx).map(source => source.list(ctx)));
    const skills = new Map<string, Skill>();
    for (const skill of lists.flat()) if (!skills.has(skill.uri)) skills.set(skill.uri, skill);
    return [...skills.values()];
  }

  private async get(ctx: McpContext, params: Params): Promise<Skill> {
    const uri = requireString(params, 'uri');
    const skill = await this.first(ctx, source => source.get(uri, ctx));
    if (!skill) throw invalid(`Unknown skill: ${shorten(uri)}`);
    return skill;
  }

  /** @param path as the template has decoded it */
  private async read(path: string, ctx: McpContext) {
    const uri = uriOf(path);
    const content = await this.first(ctx, source => source.read(uri, ctx));
    return content === undefined ? undefined : contentsOf(uri, content);
  }

  /** Adds the skills to the end of the resources. */
  private readonly withSkills: Stage = next => async (call, params) => {
    const page = await next(call, params);
    const { permissions } = this.server!;
    const isShown = !permissions || !call.http || permissions.shows(this.requirement, call.authInfo);
    if (page['nextCursor'] !== undefined || !isShown) return page;
    const rows = (await this.list(this.contextOf(call))).map(rowOf);
    const resources = [...(page['resources'] as object[]), ...rows];
    return { ...page, resources, ...(this.isPersonal && call.era === 'modern' && { cacheScope: 'private' }) };
  };

  private async first<T>(
    ctx: McpContext,
    ask: (source: Source) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    for (const source of this.sourcesFor(ctx)) {
      const found = await ask(source);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Over stdio, there are no tokens. */
  private sourcesFor({ request, authInfo }: McpContext): readonly Source[] {
    const { permissions } = this.server!;
    if (!permissions || !request) return this.sources;
    return this.sources.filter(
      ({ requirement }) => !requirement || permissions.allows(requirement, authInfo),
    );
  }
}

const invalid = (message: string) => new McpException(McpErrorCode.InvalidParams, message);
