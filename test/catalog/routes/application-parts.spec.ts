import { Readable } from 'node:stream';
import {
  Body,
  ClassSerializerInterceptor,
  Controller,
  Get,
  Header,
  Headers,
  Inject,
  Injectable,
  Module,
  Param,
  Post,
  Req,
  Scope,
  SerializeOptions,
  StreamableFile,
  VERSION_NEUTRAL,
  VersioningType,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  type MiddlewareConsumer,
  type NestInterceptor,
  type NestModule,
} from '@nestjs/common';
import {
  APP_FILTER,
  APP_GUARD,
  APP_INTERCEPTOR,
  BaseExceptionFilter,
  REQUEST,
  RouterModule,
} from '@nestjs/core';
import { Exclude, Expose } from 'class-transformer';
import { IsString } from 'class-validator';
import { map } from 'rxjs';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { platforms, startApp, textOf, type TestApp } from '../../fixtures/matrix.js';

interface Seen {
  url: string;
  params: Record<string, string>;
  body?: Record<string, unknown>;
  user?: string;
}

class NoteDto {
  @IsString()
  text!: string;
}

class Account {
  @Expose() name = 'Ada';
  @Exclude() password = 'secret';
  @Expose({ groups: ['admin'] }) role = 'root';
}

/** As many guards do, it keeps what it has found on the request. */
@Injectable()
class NoteGuard implements CanActivate {
  async canActivate(context: ExecutionContext) {
    const request = context.switchToHttp().getRequest<Seen>();
    request.user = `owner of ${request.params['id']}`;
    await new Promise(resolve => setImmediate(resolve));
    return request.user === `owner of ${request.params['id']}`;
  }
}

@Injectable({ scope: Scope.REQUEST })
class Caller {
  constructor(@Inject(REQUEST) private readonly request: Seen) {}

  get summary() {
    const { url, params, body } = this.request;
    return { url, params: { ...params }, body };
  }
}

@Controller('notes')
class NotesController {
  constructor(private readonly caller: Caller) {}

  @Tool()
  @Post(':id')
  write(@Param('id') id: string, @Body() { text }: NoteDto) {
    return { id, text, seen: this.caller.summary };
  }
}

@Controller('parts')
class PartsController {
  @Tool()
  @Get('account')
  @SerializeOptions({ groups: ['admin'] })
  account() {
    return new Account();
  }

  @Tool()
  @Post('isolated/:id')
  async isolated(@Param('id') id: string, @Body('text') text: string, @Ctx() ctx?: McpContext) {
    await new Promise(resolve => setImmediate(resolve));
    return { id, text, isTool: ctx !== undefined };
  }

  @Tool()
  @Get('file/:kind')
  file(@Param('kind') kind: string): unknown {
    const types: Record<string, string> = { image: 'image/png', table: 'text/csv' };
    const data = Buffer.from('a,b\n1,2');
    return new StreamableFile(Readable.from([data]), kind in types ? { type: types[kind] } : {});
  }

  @Tool()
  @Get('declared')
  @Header('Content-Type', 'application/pdf')
  declared(): StreamableFile {
    return new StreamableFile(Buffer.from('%PDF'));
  }

  @Tool({ request: true, headers: ['x-tenant'] })
  @Get('tenant/:id')
  tenant(@Req() request: Seen, @Headers('x-tenant') tenant?: string) {
    return { id: request.params['id'], url: request.url, tenant };
  }

  @Tool()
  @Post('delete/:id')
  async remove(@Param('id') id: string, @Ctx() ctx?: McpContext) {
    if (!ctx) return `deleted ${id}`;
    const { action } = await ctx.elicit('sure', {
      message: `Delete ${id}?`,
      schema: { type: 'object', properties: {} },
    });
    return action === 'accept' ? `deleted ${id}` : `kept ${id}`;
  }
}

@Controller({ path: 'versions', version: '2' })
class VersionedController {
  @Tool() @Get('v/:id') versioned(@Param('id') id: string) {
    return `2: ${id}`;
  }
}

@Controller({ path: 'hosted', host: 'shop.example.com', version: VERSION_NEUTRAL })
class HostedController {
  @Tool() @Get(':id') hosted(@Param('id') id: string) {
    return `hosted ${id}`;
  }
}

const runs: string[] = [];

@Injectable()
class AppGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    if (context.getClass() !== PartsController) return true;
    runs.push(`${context.getType()} ${context.getHandler().name}`);
    return true;
  }
}

@Injectable()
class AppInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>) {
    if (context.getHandler().name !== 'tenant') return next.handle();
    return next.handle().pipe(map(data => ({ ...(data as object), by: 'the interceptor' })));
  }
}

@Injectable()
class AppFilter extends BaseExceptionFilter {}

@Module({ controllers: [VersionedController] })
class VersionsModule {}

describe.each(platforms())('a route tool in an application on %s', platform => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp([], {
      platform,
      module: {
        imports: [VersionsModule, RouterModule.register([{ path: 'inner', module: VersionsModule }])],
        controllers: [NotesController, PartsController, HostedController],
        providers: [
          Caller,
          { provide: APP_GUARD, useClass: AppGuard },
          { provide: APP_GUARD, useClass: NoteGuard },
          { provide: APP_INTERCEPTOR, useClass: ClassSerializerInterceptor },
          { provide: APP_INTERCEPTOR, useClass: AppInterceptor },
          { provide: APP_FILTER, useClass: AppFilter },
        ],
      },
      configure: nest => {
        nest.setGlobalPrefix('api');
        nest.enableVersioning({ type: VersioningType.URI, defaultVersion: VERSION_NEUTRAL });
      },
    });
  });

  afterAll(() => app.close());

  const call = async (name: string, args: Record<string, unknown>, headers?: Record<string, string>) =>
    (await app.client({ headers, path: '/api/mcp' })).callTool({ name, arguments: args });
  const valueOf = async (...args: Parameters<typeof call>) =>
    JSON.parse(textOf(await call(...args))) as unknown;

  it('gives request-scoped providers the request of the route', async () => {
    expect(await valueOf('write', { id: 'a/b', text: 'hello' })).toEqual({
      id: 'a/b',
      text: 'hello',
      seen: { url: '/api/notes/a%2Fb', params: { id: 'a/b' }, body: { text: 'hello' } },
    });
  });

  it('serializes as the route does', async () => {
    const rest = await (await fetch(await app.url('/api/parts/account'))).json();
    expect(rest).toEqual({ name: 'Ada', role: 'root' });
    expect(await valueOf('account', {})).toEqual(rest);
  });

  it('runs global enhancers once for the method', async () => {
    runs.length = 0;
    expect(await valueOf('tenant', { id: '7' }, { 'x-tenant': 'acme' })).toEqual({
      id: '7',
      url: '/api/parts/tenant/7',
      tenant: 'acme',
      by: 'the interceptor',
    });
    expect(runs).toEqual(['http tenant']);
  });

  it('keeps concurrent calls of one connection apart', async () => {
    const client = await app.client({ path: '/api/mcp' });
    const ids = Array.from({ length: 40 }, (_, index) => String(index));
    const results = await Promise.all(
      ids.map(id => client.callTool({ name: 'isolated', arguments: { id, text: `text ${id}` } })),
    );
    expect(results.map(result => JSON.parse(textOf(result)) as unknown)).toEqual(
      ids.map(id => ({ id, text: `text ${id}`, isTool: true })),
    );
  });

  it('has no context over HTTP', async () => {
    const response = await fetch(await app.url('/api/parts/isolated/1'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"t"}',
    });
    expect(await response.json()).toEqual({ id: '1', text: 't', isTool: false });
  });

  it.each([
    ['table', { type: 'text', text: 'a,b\n1,2' }],
    ['image', { type: 'image', mimeType: 'image/png', data: Buffer.from('a,b\n1,2').toString('base64') }],
  ])('makes content of a file: %s', async (kind, block) => {
    expect((await call('file', { kind })).content).toEqual([block]);
  });

  it('takes the media type of a file from @Header()', async () => {
    const blob = Buffer.from('%PDF').toString('base64');
    expect((await call('declared', {})).content).toEqual([
      {
        type: 'resource',
        resource: expect.objectContaining({ mimeType: 'application/pdf', blob }) as object,
      },
    ]);
  });

  it('refuses a file without a media type', async () => {
    const result = await call('file', { kind: 'unknown' });
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringMatching(/^Internal error/)]);
  });

  it.each(['modern', 'legacy'] as const)('asks in a route: %s', async era => {
    const client = await app.client({
      era,
      path: '/api/mcp',
      onElicit: () => ({ action: 'accept', content: {} }),
    });
    const result = await client.callTool({ name: 'remove', arguments: { id: '7' } });
    expect(textOf(result)).toBe('deleted 7');
  });

  it('calls routes with a version, a module path and a host', async () => {
    expect(textOf(await call('versioned', { id: '7' }))).toBe('2: 7');
    expect(textOf(await call('hosted', { id: '7' }))).toBe('hosted 7');
  });
});

type Next = () => void;
interface Streaming {
  write(text: string): void;
}

@Controller('streams')
class StreamedController {
  @Tool() @Get('run') run() {
    return 'ran';
  }

  @Tool({ middleware: false }) @Get('free') free() {
    return 'ran free';
  }
}

@Module({ controllers: [StreamedController] })
class StreamedModule implements NestModule {
  configure(consumer: MiddlewareConsumer) {
    consumer
      .apply((_: object, response: Streaming, next: Next) => {
        response.write('early');
        next();
      })
      .forRoutes(StreamedController);
  }
}

describe.each(platforms())('middleware that streams, on %s', platform => {
  let app: TestApp;
  beforeAll(async () => (app = await startApp([], { platform, module: { imports: [StreamedModule] } })));
  afterAll(() => app.close());

  it('fails the call, which does not reach the route', async () => {
    const result = await (await app.client()).callTool({ name: 'run', arguments: {} });
    expect([result.isError, textOf(result)]).toEqual([true, 'Internal server error']);
  });

  it('does not run with "middleware: false"', async () => {
    expect(textOf(await (await app.client()).callTool({ name: 'free', arguments: {} }))).toBe('ran free');
  });
});
