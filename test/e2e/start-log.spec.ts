import {
  Injectable,
  Module,
  VersioningType,
  type INestApplication,
  type LoggerService,
  type ModuleMetadata,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import {
  Completion,
  McpModule,
  McpServerRegistry,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
  Validator,
} from 'nestjs-mcp';
import { McpGatewayModule } from 'nestjs-mcp/gateway';
import { resolveOptions } from '../../lib/server/resolve-server-options.js';
import { transportsOf } from '../../lib/server/start-log.js';

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
  readonly log = this.keeper('log');
  readonly warn = this.keeper('warn');
  readonly error = this.keeper('error');

  private keeper(level: string) {
    return (message: unknown, context?: unknown) => {
      if (String(context).startsWith('McpModule(')) this.lines.push(`${level} ${String(message)}`);
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
      'debug tool "search": Shop.search',
      'debug tool "buy-now": Shop.buy',
      'debug prompt "review": Shop.review',
      'debug resource "config://app": Shop.config',
      'debug resource template "users://{id}": Shop.user',
      'debug completion of "id" of the prompt "review": Shop.ids',
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
