import {
  Injectable,
  Module,
  VersioningType,
  type INestApplication,
  type LoggerService,
  type ModuleMetadata,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { IsString } from 'class-validator';
import {
  Ask,
  Completion,
  McpModule,
  type McpModuleOptions,
  McpServerRegistry,
  MemoryMrtrStore,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
  Validator,
} from 'nestjs-mcp';
import { McpAuthModule } from 'nestjs-mcp/auth';
import { McpExplorerModule } from 'nestjs-mcp/explorer';
import { McpGatewayModule } from 'nestjs-mcp/gateway';
import { resolveOptions } from '../../lib/module/resolve-server-options.js';
import { transportsOf } from '../../lib/module/start-log.js';

const IDS = { type: 'object', properties: { id: { type: 'string' } } } as const;

@Injectable()
class Shop {
  @Tool()
  search() {
    return 'found';
  }

  @Tool({ name: 'buy-now' })
  buy() {
    return 'bought';
  }

  @Prompt({ argsSchema: IDS })
  review() {
    return 'review';
  }

  @Resource({ uri: 'config://app' })
  config() {
    return {};
  }

  @ResourceTemplate({ uriTemplate: 'users://{id}' })
  user() {
    return {};
  }

  @Completion({ prompt: 'review', argument: 'id' })
  ids() {
    return [];
  }
}

@Injectable()
class Admin {
  @Tool({ server: 'admin' })
  drop() {
    return 'dropped';
  }
}

class Region {
  @IsString()
  name!: string;
}

@Injectable()
class Asking {
  @Tool()
  deploy(@Ask('region', { message: 'Where?' }) region: Region) {
    return region.name;
  }
}

@Injectable()
class Checks {
  @Validator({ events: ['tools/call'] })
  check() {
    return true;
  }
}

/** Adds a tool while the application starts. */
@Injectable()
class Late {
  constructor(registry: McpServerRegistry) {
    void registry.add('tool', { name: 'late' }, () => 'late');
  }
}

/** Keeps what this package logs about servers. */
class Lines implements LoggerService {
  readonly lines: string[] = [];
  readonly debug = this.keeper('debug');
  readonly verbose = this.keeper('verbose');
  readonly log = this.keeper('log');
  readonly warn = this.keeper('warn');
  readonly error = this.keeper('error');

  private keeper(level: string) {
    return (message: unknown, context?: unknown) => {
      if (/^Mcp((Module|Interceptors)\(|Explorer$)/.test(String(context)))
        this.lines.push(`${level} ${String(message)}`);
    };
  }
}

describe('at start, the log says', () => {
  const open: INestApplication[] = [];
  afterEach(() => Promise.all(open.splice(0).map(app => app.close())));

  const start = async (
    imports: NonNullable<ModuleMetadata['imports']>,
    providers: NonNullable<ModuleMetadata['providers']>,
    configure: (app: INestApplication) => unknown = () => undefined,
  ) => {
    @Module({ imports, providers })
    class AppModule {}
    const logger = new Lines();
    const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger, abortOnError: false });
    configure(app);
    await app.init();
    open.push(app);
    return logger.lines;
  };

  it('what is served, and where each handler is', async () => {
    expect(await start([McpModule.forRoot({ name: 'shop', version: '1' })], [Shop])).toEqual([
      'log MCP server "shop" at /mcp (2026-07-28, 2025 sessions): 2 tools, 1 prompt, 1 resource, 1 resource template',
      'verbose tool "search": Shop.search',
      'verbose tool "buy-now": Shop.buy',
      'verbose prompt "review": Shop.review',
      'verbose resource "config://app": Shop.config',
      'verbose resource template "users://{id}": Shop.user',
      'verbose completion of "id" of the prompt "review": Shop.ids',
    ]);
  });

  it('each server, at its real path', async () => {
    const lines = await start(
      [
        McpModule.forRoot({ name: 'shop', version: '1', http: { version: '2' }, legacy: 'stateless' }),
        McpModule.forRoot({ name: 'admin', version: '1', http: { path: '/admin/mcp' }, legacy: 'reject' }),
      ],
      [Late, Admin],
      app => app.setGlobalPrefix('api').enableVersioning({ type: VersioningType.URI, defaultVersion: '1' }),
    );
    expect(lines.filter(line => line.startsWith('log'))).toEqual([
      'log MCP server "shop" at /api/v2/mcp (2026-07-28, 2025 stateless): 1 tool',
      'log MCP server "admin" at /api/v1/admin/mcp (2026-07-28): 1 tool',
    ]);
  });

  it('how callers log in, and the URLs once it listens, in at most four lines', async () => {
    const auth = (servers: object) =>
      McpAuthModule.forRoot({
        resource: 'https://shop.example/mcp',
        authorizationServers: ['https://login.example.com/'],
        verifier: { verifyAccessToken: () => Promise.reject(new Error('unused')) },
        ...servers,
      });
    const logger = new Lines();
    @Module({
      imports: [
        McpModule.forRoot({ name: 'shop', version: '1', legacy: 'reject' }),
        auth({ server: 'shop' }),
        McpModule.forRoot({ name: 'admin', version: '1', legacy: 'reject', http: { path: '/admin/mcp' } }),
        auth({ server: 'admin', anonymous: true }),
        McpExplorerModule.forRoot(),
      ],
      providers: [Late, Admin],
    })
    class AppModule {}
    const app = await NestFactory.create(AppModule, { logger, abortOnError: false });
    app.setGlobalPrefix('api');
    await app.listen(0);
    open.push(app);
    const { port } = new URL(await app.getUrl());
    expect(logger.lines.filter(line => line.startsWith('log '))).toEqual([
      'log MCP server "shop" at /api/mcp (2026-07-28): 1 tool',
      'log Callers must log in at https://login.example.com/',
      'log MCP server "admin" at /api/admin/mcp (2026-07-28): 1 tool',
      'log Callers may log in at https://login.example.com/',
      `log The explorer is at http://localhost:${port}/api/mcp-explorer`,
      `log Listening at http://localhost:${port}/api/mcp`,
      `log Listening at http://localhost:${port}/api/admin/mcp`,
    ]);
  });

  it.each([
    ['/mcp', true, 'sessions', 'at /mcp (2026-07-28, 2025 sessions) and over stdio (2026-07-28, 2025)'],
    [undefined, true, 'sessions', 'over stdio (2026-07-28, 2025)'],
    [undefined, true, 'reject', 'over stdio (2026-07-28)'],
    [undefined, false, 'sessions', 'without a transport'],
  ] as const)('by which transports: path %s, stdio %s, legacy %s', (path, stdio, legacy, said) => {
    const { http } = resolveOptions({ name: 'shop', version: '1' });
    expect(transportsOf({ http, stdio, legacy }, path === undefined ? [] : [path])).toBe(said);
  });

  it('why a server may have no handlers', async () => {
    expect(await start([McpModule.forRoot({ name: 'shop', version: '1' })], [])).toEqual([
      'warn MCP server "shop" at /mcp (2026-07-28, 2025 sessions) has no handlers: list the classes with @Tool(), @Prompt() or @Resource() methods in the "providers" of a module',
    ]);
  });

  it.each([
    [
      'a gateway',
      McpGatewayModule.forRoot({ name: 'front', backend: { url: 'http://127.0.0.1:1/mcp' } }),
      [],
      'MCP gateway "front" at /mcp (2026-07-28, 2025 sessions)',
    ],
    [
      'a host of interceptors',
      McpModule.forRoot({ name: 'checks', version: '1', interceptors: { expose: true } }),
      [Checks],
      'MCP server "checks" at /mcp (2026-07-28, 2025 sessions): 1 interceptor',
    ],
    [
      'a server that expects handlers at run time',
      McpModule.forRoot({ name: 'later', version: '1', capabilities: { tools: true } }),
      [],
      'MCP server "later" at /mcp (2026-07-28, 2025 sessions): no handlers yet',
    ],
  ])('nothing of missing handlers for %s', async (_, module, providers, line) => {
    expect(await start([module], providers)).toEqual([`log ${line}`]);
  });
});

describe('at start, a warning of the server names', () => {
  const kept = { ...process.env };
  afterEach(() => {
    process.env = { ...kept };
  });

  const warnings = async (
    environment: Record<string, string>,
    mcp: Partial<McpModuleOptions> = {},
    handlers: Type = Asking,
  ) => {
    process.env = { ...kept, ...environment };
    const logger = new Lines();
    const module = McpModule.forRoot({ name: 'shop', version: '1', ...mcp });
    @Module({ imports: [module], providers: [handlers] })
    class AppModule {}
    const app = await NestFactory.create(AppModule, new FastifyAdapter(), { logger, abortOnError: false });
    await app.init();
    await app.close();
    return logger.lines.filter(line => line.startsWith('warn '));
  };
  const production = { NODE_ENV: 'production' };
  const secret = 'a secret of thirty-two bytes or more';
  const hosts = { allowedHosts: ['shop.example'] };

  it('an unset secret of a handler that asks, in production', async () => {
    const [line, ...others] = await warnings(production, { http: hosts });
    expect(line).toMatch(/^warn "mrtr\.secret" is not set, but Asking\.deploy asks the client, /);
    expect(others).toEqual([]);
  });

  it('an unset secret of a server that shares its store with other nodes, in production', async () => {
    const store = {
      set: () => Promise.resolve(),
      get: () => Promise.resolve(''),
      claim: () => Promise.resolve(true),
    };
    const [line, ...others] = await warnings(production, { http: hosts, mrtr: { store } }, Shop);
    expect(line).toMatch(/^warn "mrtr\.secret" is not set, but nodes share its store: /);
    expect(others).toEqual([]);
    const mrtr = { store: new MemoryMrtrStore() };
    expect(await warnings(production, { http: hosts, mrtr }, Shop)).toEqual([]);
  });

  it('hosts that admit localhost only, in production', async () => {
    const [line, ...others] = await warnings(production, { mrtr: { secret } });
    expect(line).toMatch(/^warn "http\.allowedHosts" admits only localhost, /);
    expect(others).toEqual([]);
  });

  it.each([
    ['AWS_LAMBDA_FUNCTION_NAME', 'AWS Lambda'],
    ['FUNCTION_TARGET', 'Google Cloud Functions'],
    ['VERCEL', 'Vercel'],
  ])('sessions where %s is set', async (variable, name) => {
    expect(await warnings({ [variable]: '1' })).toEqual([
      `warn "legacy" is "sessions", but ${name} does not keep them from one request to the next; set "legacy" to "stateless"`,
    ]);
    expect(await warnings({ [variable]: '1' }, { legacy: 'stateless' })).toEqual([]);
  });

  it('nothing on a developer’s machine, and nothing in production with these options set', async () => {
    expect(await warnings({})).toEqual([]);
    expect(await warnings(production, { http: hosts, mrtr: { secret } })).toEqual([]);
    expect(await warnings(production, { http: { allowedHosts: '*' }, mrtr: { secret } })).toEqual([]);
  });
});
