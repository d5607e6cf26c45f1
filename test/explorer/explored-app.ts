import { once } from 'node:events';
import { request, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  Injectable,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type ModuleMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  Args,
  Ctx,
  deny,
  McpContext,
  Mutator,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
  UriParams,
  Validator,
  Visible,
  type InterceptorInvocation,
} from 'nestjs-mcp';
import { McpExplorerModule, type McpExplorerOptions } from 'nestjs-mcp/explorer';
import { startApp, type TestApp, type TestAppOptions } from '../fixtures/matrix.js';

export interface ApiAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly json: any;
}

export interface ExploredApp extends TestApp {
  get(path: string, headers?: Record<string, string>): Promise<ApiAnswer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
}

export interface ExploredOptions extends TestAppOptions {
  readonly explorer?: McpExplorerOptions;
}

export const CSRF = { 'mcp-explorer': '1', 'content-type': 'application/json' };

/** An application with an explorer, and what asks it things. */
export async function startExplored(
  handlers: Parameters<typeof startApp>[0],
  { explorer, module = {}, ...options }: ExploredOptions = {},
): Promise<ExploredApp> {
  const imports: ModuleMetadata['imports'] = [...(module.imports ?? []), McpExplorerModule.forRoot(explorer)];
  const app = await startApp(handlers, { ...options, module: { ...module, imports } });
  const send = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
    const sending = request(await app.url(path), { method, headers, agent: false });
    sending.end(body);
    const [answer] = await once(sending, 'response');
    const content = await text(answer);
    const isJson = String(answer.headers['content-type']).startsWith('application/json');
    return {
      status: answer.statusCode,
      headers: answer.headers,
      text: content,
      json: isJson && JSON.parse(content),
    };
  };
  return {
    ...app,
    get: (path, headers = {}) => send('GET', path, headers),
    post: (path, body, headers = {}) =>
      send('POST', path, { ...CSRF, ...headers }, typeof body === 'string' ? body : JSON.stringify(body)),
  };
}

export const Roles = (...roles: string[]) => SetMetadata('roles', roles);

interface User {
  readonly roles: readonly string[];
}

/** Roles come from the user that authentication found. */
@Injectable()
export class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const needed =
      this.reflector.getAllAndOverride<string[]>('roles', [context.getHandler(), context.getClass()]) ?? [];
    const { user } = context.switchToHttp().getRequest<{ user?: User }>();
    return needed.every(role => user?.roles?.includes(role));
  }
}

const SEARCH = {
  type: 'object' as const,
  properties: { query: { type: 'string' as const, 'x-mcp-header': 'Query' } },
  required: ['query'],
};

@Injectable()
export class Shop {
  @Tool({ description: 'Searches the shop', annotations: { readOnlyHint: true }, inputSchema: SEARCH })
  async search(@Args() { query }: { query: string }, @Ctx() ctx: McpContext) {
    await ctx.reportProgress(1, 2, 'half');
    return `found ${query}`;
  }

  @Tool({ description: 'Orders' })
  @UseGuards(RolesGuard)
  @Visible(RolesGuard)
  @Roles('clerk')
  order() {
    return 'ordered';
  }

  @Tool({ description: 'Asks for a size', annotations: { readOnlyHint: true } })
  async size(@Ctx() ctx: McpContext) {
    const schema = { type: 'object' as const, properties: { size: { type: 'string' as const } } };
    const answer = await ctx.elicit('size', { message: 'Which size?', schema });
    return answer.action === 'accept' ? `size ${String(answer.content['size'])}` : 'none';
  }

  @Tool({ annotations: { readOnlyHint: true } })
  hidden() {
    return 'hidden';
  }

  @Prompt({ description: 'Greets' })
  greet() {
    return 'hello';
  }

  @Resource({ uri: 'shop://hours', description: 'Hours', cache: { ttlMs: 5000 } })
  hours() {
    return '9 to 5';
  }

  @ResourceTemplate({ uriTemplate: 'shop://items/{id}', description: 'An item' })
  item(@UriParams('id') id: string) {
    return id;
  }
}

@Injectable()
export class Policies {
  @Validator({ name: 'short', events: ['tools/call'], phase: 'request', mode: 'audit' })
  short({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    const { query } = payload.arguments ?? {};
    return typeof query !== 'string' || query.length < 10 || deny('too long');
  }

  @Mutator({ name: 'polite', events: ['tools/call'], phase: 'response', priority: 5 })
  polite({ payload }: InterceptorInvocation<'tools/call', 'response'>) {
    const [first] = payload.content as { type: 'text'; text: string }[];
    return first ? { ...payload, content: [{ ...first, text: `${first.text}, please` }] } : payload;
  }

  @Mutator({ name: 'hides', events: ['tools/list'], phase: 'response' })
  hides({ payload }: InterceptorInvocation<'tools/list', 'response'>) {
    return { ...payload, tools: payload.tools.filter(({ name }) => name !== 'hidden') };
  }
}
