import { format } from 'prettier';
import * as morph from 'ts-morph';
import { convert } from '../../../cli/migrate/convert.js';

/** The files of an application after its conversion, formatted. */
async function converted(files: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const project = new morph.Project({
    useInMemoryFileSystem: true,
    manipulationSettings: {
      indentationText: morph.IndentationText.TwoSpaces,
      quoteKind: morph.QuoteKind.Single,
      useTrailingCommas: true,
    },
  });
  for (const [path, text] of Object.entries(files)) project.createSourceFile(path, text);
  const outcome = convert(morph, project);
  const again = convert(morph, project);
  expect(again.files).toEqual([]);
  const texts = outcome.files.map(async path => [
    path,
    await pretty(project.getSourceFileOrThrow(path).getFullText()),
  ]);
  return Object.fromEntries(await Promise.all(texts)) as Record<string, string>;
}

const pretty = (text: string) => format(text, { parser: 'typescript', singleQuote: true, printWidth: 100 });

/** What is after the imports. */
const bodyOf = (text: string) => text.replace(/^(import [^;]*;\n|\/\/ import.*\n)+\n*/, '');

const IMPORTS = `import { Injectable } from '@nestjs/common';
import { McpController, McpRawRequest, McpStrategy } from '@rekog/mcp-nest';
import { Context, McpModule, McpRegistryService, McpTransportType, Prompt, PublicTool, Resource, ResourceTemplate, Tool, ToolGuards, ToolScopes } from '@rekog/mcp-nest';
`;

const MICROSERVICES = "import { Payload, Ctx } from '@nestjs/microservices';\n";

const importsOf = (text: string) => IMPORTS + (/@Payload/.test(text) ? MICROSERVICES : '');

type Case = readonly [name: string, before: string, after: string];

const method = (text: string) => `class Shop {\n${text}\n}\n`;

const HANDLERS: readonly Case[] = [
  [
    'parameters of a tool',
    '@Tool({ description: "Finds", parameters: Search }) find({ text }: Search, context: Context) { return context.log.info(text); }',
    '@Tool({ description: "Finds", inputSchema: Search }) find(@Args() { text }: Search, @Ctx() context: McpContext) { return context.log.info(text); }',
  ],
  [
    'parameters in short form, of a prompt',
    '@Prompt({ parameters }) review(args) { return args.text; }',
    '@Prompt({ argsSchema: parameters }) review(@Args() args) { return args.text; }',
  ],
  [
    'parameters that nothing uses',
    '@Tool({ name: "now" }) now(_args, context: Context, request: Request) { return Date.now(); }',
    '@Tool({ name: "now" }) now() { return Date.now(); }',
  ],
  [
    'arguments without a schema',
    '@Tool({ name: "echo" }) echo(args) { return args; }',
    `@Tool({ name: "echo", inputSchema: { type: 'object' } }) echo(@Args() args) { return args; }`,
  ],
  [
    'the request',
    '@Tool({}) whoami(_args, _context: Context, request: Request) { return request.headers; }',
    '@Tool({}) whoami(@Ctx() _context: McpContext) { const request = _context.request as Request; return request.headers; }',
  ],
  [
    'the parameters of 2.x',
    '@Tool({ parameters: S }) find(@Ctx() ctx: McpContext, @Payload(TRIM) args: A, @McpRawRequest() raw: Request) { return [args, raw.url, ctx.era]; }',
    '@Tool({ inputSchema: S }) find(@Ctx() ctx: McpContext, @Args(TRIM) args: A) { const raw = ctx.request as Request; return [args, raw.url, ctx.era]; }',
  ],
  [
    'the log',
    '@Tool({}) log(_: unknown, context: Context) { context.log.warn("low"); context.log.info("text", { a: 1 }); context.log.debug("same"); }',
    '@Tool({}) log(@Ctx() context: McpContext) { context.log.warning("low"); context.log.info({ message: "text", context: { a: 1 } }); context.log.debug("same"); }',
  ],
  [
    'questions to the client',
    `@Tool({}) async ask(_: unknown, context: Context) {
      if (!context.mcpServer.server.getClientCapabilities()?.elicitation) return;
      await context.mcpServer.server.elicitInput({ message: 'Where?', requestedSchema: Region });
      return context.mcpServer.server.createMessage({ messages, maxTokens: 9 });
    }`,
    `@Tool({}) async ask(@Ctx() context: McpContext) {
      if (!context.clientCapabilities?.elicitation) return;
      await context.elicit('ask', { message: 'Where?', schema: Region });
      return context.sample('ask-2', { messages, maxTokens: 9 });
    }`,
  ],
  [
    'a question that is caught',
    `@Tool({}) async ask(_: unknown, context: Context) {
      try {
        return await context.mcpServer.server.elicitInput({ message: 'Where?', requestedSchema });
      } catch {
        return 'nowhere';
      }
    }`,
    `@Tool({}) async ask(@Ctx() context: McpContext) {
      try {
        // nestjs-mcp: do not catch what this call throws: it ends the round, and the handler runs again
        return await context.elicit('ask', { message: 'Where?', schema: requestedSchema });
      } catch {
        return 'nowhere';
      }
    }`,
  ],
  [
    'the context of 2.x',
    '@Tool({}) who(@Payload() _: unknown, @Ctx() c: McpContext) { return [c.getClientInfo()?.name, c.getProtocolVersion(), c.getRawRequest<Request>()?.url]; }',
    '@Tool({}) who(@Ctx() c: McpContext) { return [c.clientInfo?.name, c.protocolVersion, (c.request as Request)?.url]; }',
  ],
  [
    'what a context does not have',
    '@Tool({}) id(_: unknown, context: Context) {\n return context.mcpRequest.params.name;\n}',
    `@Tool({}) id(@Ctx() context: McpContext) {
      // nestjs-mcp: there is no request of the protocol in McpContext: use @Args(), and its method, requestId and meta
      return context.mcpRequest.params.name;
    }`,
  ],
  [
    'the URI of a resource',
    `@Resource({ uri: 'config://app' }) config({ uri }) { return { contents: [{ uri, text: '' }] }; }`,
    `@Resource({ uri: 'config://app' }) config() { const uri = 'config://app'; return { contents: [{ uri, text: '' }] }; }`,
  ],
  [
    'the variables of a template',
    `@ResourceTemplate({ uriTemplate: 'users://{id}/{path*}' }) user({ uri, id }: { uri: string; id: string }) { return [uri, id]; }`,
    `@ResourceTemplate({ uriTemplate: 'users://{id}/{+path}' }) user(@UriParams() { id, path }: { id: string; path: string }) {
      const uri = \`users://\${encodeURIComponent(id)}/\${path}\`; return [uri, id];
    }`,
  ],
  [
    'variables in one parameter',
    `@ResourceTemplate({ uriTemplate: 'users://{id}' }) user(params: Params) { return [params.uri, params.id]; }`,
    `@ResourceTemplate({ uriTemplate: 'users://{id}' }) user(@UriParams() params: Params) { return [\`users://\${encodeURIComponent(params.id)}\`, params.id]; }`,
  ],
  [
    'guards and scopes',
    `@Tool({}) @ToolGuards([Roles, Keys]) a() {} @Tool({}) @PublicTool() b() {} @Tool({}) @ToolScopes(['x', 'y']) c() {}`,
    `@Tool({}) @UseGuards(Roles, Keys) a() {} @Tool({}) @AllowAnonymous() b() {} @Tool({}) @RequireScopes('x', 'y') c() {}`,
  ],
];

const MODULES: readonly Case[] = [
  [
    'the default transports of 1.x',
    `McpModule.forRoot({ name: 'shop', version: '1' });`,
    `McpModule.forRoot({ name: 'shop', version: '1', legacy: 'stateless' });`,
  ],
  [
    'sessions and paths',
    `McpModule.forRoot({ name: 'shop', version: '1', apiPrefix: 'api', mcpEndpoint: 'mcp', sseEndpoint: 'sse', streamableHttp: { statelessMode: false, enableJsonResponse: true } });`,
    `McpModule.forRoot({ name: 'shop', version: '1', http: { path: '/api/mcp' } });`,
  ],
  [
    'guards of the route',
    `McpModule.forRoot({ name: 'shop', version: '1', guards: [KeyGuard], decorators: [Public()], streamableHttp: { statelessMode: false } });`,
    `McpModule.forRoot({ name: 'shop', version: '1', http: { decorators: [Public(), UseGuards(KeyGuard)] } });`,
  ],
  [
    'stdio',
    `McpModule.forRoot({ name: 'shop', version: '1', transport: McpTransportType.STDIO });`,
    `McpModule.forRoot({ name: 'shop', version: '1', stdio: true, http: false });`,
  ],
  [
    'capabilities',
    `McpModule.forRoot({ name: 'shop', version: '1', capabilities: { tools: { listChanged: true }, logging: {} }, streamableHttp: { statelessMode: false } });`,
    `McpModule.forRoot({ name: 'shop', version: '1', capabilities: { tools: true } });`,
  ],
  [
    'what a module does not have',
    `McpModule.forRoot({ name: 'shop', version: '1', serverMutator: patch, streamableHttp: { statelessMode: false } });`,
    `// nestjs-mcp: there is no McpServer to change (serverMutator): an interceptor sees every request\nMcpModule.forRoot({ name: 'shop', version: '1' });`,
  ],
  [
    'a factory',
    `McpModule.forRootAsync({ inject: [C], useFactory: (c: C) => ({ name: c.name, version: '1', mcpEndpoint: c.path }) });`,
    `McpModule.forRootAsync({ inject: [C], useFactory: (c: C) => ({ name: c.name, version: '1', legacy: 'stateless', http: { path: c.path } }) });`,
  ],
  [
    'a feature',
    `McpModule.forFeature([Tools], 'admin');`,
    `McpModule.forFeature([Tools], { server: 'admin' });`,
  ],
  [
    'handlers at run time',
    `class Reports { constructor(private readonly registry: McpRegistryService) {}
      async offer() {
        this.registry.registerTool({ name: 'report', parameters: Month, handler: async (args, ctx, req) => [args.month, req.url] });
        this.registry.removeTool('report');
      }
    }`,
    `class Reports { constructor(private readonly registry: McpServerRegistry) {}
      async offer() {
        await this.registry.add('tool', { name: 'report', inputSchema: Month }, async (args: Record<string, any>, ctx: McpContext) => [args.month, (ctx.request as any).url]);
        // nestjs-mcp: remove() throws if the handler does not exist
        this.registry.remove('tool', 'report');
      }
    }`,
  ],
];

it.each(HANDLERS)('converts a handler: %s', async (_, before, after) => {
  const { '/shop.ts': text } = await converted({ '/shop.ts': importsOf(before) + method(before) });
  expect(bodyOf(text)).toBe(await pretty(method(after)));
  expect(text).not.toMatch(/@rekog|microservices/);
});

it.each(MODULES)('converts a module: %s', async (_, before, after) => {
  const { '/shop.ts': text } = await converted({ '/shop.ts': importsOf(before) + before });
  expect(bodyOf(text)).toBe(await pretty(after));
  expect(text).not.toContain('@rekog');
});

it('wires the servers of 2.x as modules', async () => {
  const files = await converted({
    '/tools.ts': `import { McpController, Tool } from '@rekog/mcp-nest';
@McpController({ server: 'admin' })
export class Tools {
  @Tool({ name: 'a' })
  a() {}
}
`,
    '/main.ts': `import { Controller, Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpHttpControllerFor, McpStrategy, MCP_STRATEGY, StreamableHttpTransport } from '@rekog/mcp-nest';
import { Tools } from './tools';

const transport = new StreamableHttpTransport({ statefulMode: true });
const mcp = new McpStrategy({ name: 'desk', version: '1', server: 'admin', transports: [transport] });

@Controller('api/mcp')
@UseGuards(KeyGuard)
class McpHttpController extends McpHttpControllerFor(transport) {}

@Module({
  controllers: [McpHttpController, Tools],
  providers: [Orders, { provide: MCP_STRATEGY, useValue: mcp }],
})
class AppModule {}

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  mcp.setHttpAdapter(app.getHttpAdapter());
  app.connectMicroservice({ strategy: mcp });
  await app.startAllMicroservices();
  await app.listen(3000);
}
`,
  });
  expect(files['/tools.ts']).toBe(`import { Injectable } from '@nestjs/common';
import { Tool } from 'nestjs-mcp';

@Injectable()
export class Tools {
  @Tool({ name: 'a', server: 'desk' })
  a() {}
}
`);
  expect(files['/main.ts']).toBe(`import { Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpModule } from 'nestjs-mcp';
import { Tools } from './tools';
const mcp = McpModule.forRoot({
  name: 'desk',
  version: '1',
  http: { path: '/api/mcp', decorators: [UseGuards(KeyGuard)] },
});

@Module({
  imports: [mcp],
  providers: [Orders, Tools],
})
class AppModule {}

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.listen(3000);
}
`);
});

it('starts a stdio server of 2.x without a microservice', async () => {
  const { '/main.ts': text } = await converted({
    '/main.ts': `import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpStrategy, StdioTransport } from '@rekog/mcp-nest';
const mcp = new McpStrategy({ name: 'desk', version: '1', transports: [new StdioTransport()] });
@Module({})
class AppModule {}
async function bootstrap() {
  const app = await NestFactory.createMicroservice(AppModule, { strategy: mcp, logger: false });
  await app.listen();
}
`,
  });
  expect(text).toContain("McpModule.forRoot({ name: 'desk', version: '1', stdio: true, http: false })");
  expect(text).toContain('await NestFactory.createApplicationContext(AppModule, { logger: false });');
  expect(text).not.toContain('listen');
});

it('keeps @ToolRoles() as a file of the application', async () => {
  const tool = (name: string) => `import { Tool, ToolRoles } from '@rekog/mcp-nest';
class ${name} {
  @Tool({})
  @ToolRoles(['admin'])
  a() {}
}
`;
  const files = await converted({ '/a/one.ts': tool('One'), '/b/two.ts': tool('Two') });
  expect(files['/a/one.ts']).toContain("import { ToolRoles } from './tool-roles';");
  expect(files['/b/two.ts']).toContain("import { ToolRoles } from '../a/tool-roles';");
  expect(files['/a/tool-roles.ts']).toContain('export const ToolRoles = (');
});

it('reads the request of HTTP in the guards of 2.x', async () => {
  const { '/guard.ts': text } = await converted({
    '/guard.ts': `import { McpContext } from '@rekog/mcp-nest';
class Guard {
  canActivate(context: ExecutionContext) {
    const call = context.switchToRpc().getContext<McpContext>();
    return call.getRawRequest<Request>().user;
  }
}
`,
  });
  expect(text).toContain('return context.switchToHttp().getRequest<Request>().user;');
  expect(text).not.toContain('switchToRpc');
});

it('leaves a comment at the exception filters of 2.x', async () => {
  const files = {
    '/filter.ts': `import { Catch, RpcExceptionFilter } from '@nestjs/common';
import { throwError } from 'rxjs';

@Catch()
export class Failures implements RpcExceptionFilter<Error> {
  catch({ message }: Error) {
    return throwError(() => ({ status: 'error', message }));
  }
}
`,
  };
  const tools = `import { McpController } from '@rekog/mcp-nest';\n@McpController()\nclass Tools {}\n`;
  const { '/filter.ts': text } = await converted({ ...files, '/tools.ts': tools });
  expect(text).toContain(`
// nestjs-mcp: return { isError: true, content } or throw an HttpException: clients get no text of throwError()
@Catch()`);
  expect(await converted(files)).toEqual({});
});

it('asks once for the module that checks tokens', async () => {
  const module = (name: string) => `import { McpModule, PublicTool, Tool } from '@rekog/mcp-nest';
McpModule.forRoot({ name: '${name}', version: '1' });
class Tools {
  @Tool({})
  @PublicTool()
  a() {}
}
`;
  const files = await converted({ '/one.ts': module('one'), '/two.ts': module('two') });
  expect(Object.values(files).join('').split('// nestjs-mcp: import McpAuthModule.forRoot()')).toHaveLength(
    2,
  );
});

it('converts the official package', async () => {
  const { '/shop.ts': text } = await converted({
    '/shop.ts': `import { UseGuards } from '@nestjs/common';
import { McpModule, ResourceTemplate, Tool, type McpContext } from '@nestjs/mcp';
McpModule.forRoot({ name: 'store', version: '1', path: 'operations', decorators: [UseGuards(KeyGuard)] });
class Orders {
  @Tool({ inputSchema: Find })
  find({ id }: { id: string }, context: McpContext) {
    return [id, context];
  }
  @ResourceTemplate({ uriTemplate: 'orders://{id}' })
  order({ id }: { id: string }) {
    return id;
  }
}
`,
  });
  expect(text).not.toContain('@nestjs/mcp');
  expect(text).toContain("http: { path: '/operations', decorators: [UseGuards(KeyGuard)] }");
  expect(text).toContain('find(@Args() { id }: { id: string }, @Ctx() context: McpContext)');
  expect(text).toContain('order(@UriParams() { id }: { id: string })');
});

it('leaves a comment at a name without a counterpart, and other files as they are', async () => {
  const files = await converted({
    '/auth.ts': `import { McpAuthJwtGuard } from '@rekog/mcp-nest';\nexport const guard = McpAuthJwtGuard;\n`,
    '/other.ts': `import { Tool } from 'elsewhere';\nexport class A { @Tool({ parameters: {} }) a(b) {} }\n`,
  });
  expect(Object.keys(files)).toEqual(['/auth.ts']);
  expect(files['/auth.ts']).toContain('// nestjs-mcp: McpAuthModule of nestjs-mcp/auth checks tokens');
});
