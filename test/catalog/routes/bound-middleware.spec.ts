import {
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  Param,
  Post,
  Req,
  RequestMethod,
  Scope,
  UnauthorizedException,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type INestApplication,
  type MiddlewareConsumer,
  type NestMiddleware,
  type NestModule,
  type Type,
} from '@nestjs/common';
import { NestFactory, REQUEST, type AbstractHttpAdapter } from '@nestjs/core';
import { McpModule, Tool } from 'nestjs-mcp';
import { createTestClient } from 'nestjs-mcp/testing';
import { ADAPTERS } from '../../fixtures/adapters.js';
import { platforms, startApp, textOf, type TestApp } from '../../fixtures/matrix.js';

interface Seen {
  readonly headers: Record<string, string>;
  counter?: Counter;
  raw?: Seen;
}

/** Middleware that lets through who has the key of its name. */
function locked(name: string, scope?: Scope): Type<NestMiddleware> {
  @Injectable({ scope })
  class Locked implements NestMiddleware {
    use(request: Seen, _: object, next: () => void) {
      if (request.headers['x-key'] !== name) throw new UnauthorizedException(`No key for ${name}`);
      next();
    }
  }
  return Locked;
}

const Scoped = locked('scoped', Scope.REQUEST);

@Injectable({ scope: Scope.REQUEST })
class Counter {
  constructor(@Inject(REQUEST) readonly request: Seen) {}
}

/** Leaves its provider on the request, so that the controller can compare it with its own. */
@Injectable()
class CountingMiddleware implements NestMiddleware {
  constructor(private readonly counter: Counter) {}
  use(request: Seen, _: object, next: () => void) {
    request.counter = this.counter;
    next();
  }
}

@Controller('things')
class CountedController {
  constructor(private readonly counter: Counter) {}

  @Tool({ request: true }) @Get('counted') counted(@Req() { counter, raw }: Seen) {
    return `the same: ${(counter ?? raw?.counter) === this.counter}`;
  }
}

class BaseGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    return context.switchToHttp().getRequest<Seen>().headers['x-key'] !== 'denied';
  }
}

@UseGuards(BaseGuard)
class BaseController {}

@Controller('things')
class ThingsController extends BaseController {
  @Tool() @Get('method/:id') method(@Param('id') id: string) {
    return `method ${id}`;
  }
  @Tool() @Post('method/:id') other(@Param('id') id: string) {
    return `other ${id}`;
  }
  @Tool() @Get('excluded/:id') excluded(@Param('id') id: string) {
    return `excluded ${id}`;
  }
  @Tool() @Get('scoped') scoped() {
    return 'scoped';
  }
  @Tool() @Get('named/:id') named(@Param('id') id: string) {
    return `named ${id}`;
  }
  @Tool() @Get('wild/:a/:b') wild(@Param('a') a: string, @Param('b') b: string) {
    return `wild ${a} ${b}`;
  }
  @Tool() @Get('open') open() {
    return 'open';
  }
}

@Module({ controllers: [ThingsController, CountedController], providers: [Counter] })
class ThingsModule implements NestModule {
  configure(consumer: MiddlewareConsumer) {
    consumer.apply(locked('method')).forRoutes({ path: 'things/method/:id', method: RequestMethod.GET });
    consumer
      .apply(locked('excluded'))
      .exclude({ path: 'things/excluded/public', method: RequestMethod.GET })
      .forRoutes({ path: 'things/excluded/:id', method: RequestMethod.ALL });
    consumer.apply(Scoped).forRoutes('things/scoped');
    consumer.apply(locked('named')).forRoutes('things/named/secret');
    consumer.apply(locked('wild')).forRoutes('things/wild/*path');
    consumer.apply(CountingMiddleware).forRoutes('things/counted');
  }
}

interface Row {
  readonly tool: string;
  readonly http: readonly [string, string];
  readonly args?: Record<string, string>;
}

const ROWS: readonly Row[] = [
  { tool: 'method', http: ['GET', 'method/1'], args: { id: '1' } },
  { tool: 'other', http: ['POST', 'method/1'], args: { id: '1' } },
  { tool: 'excluded', http: ['GET', 'excluded/1'], args: { id: '1' } },
  { tool: 'excluded', http: ['GET', 'excluded/public'], args: { id: 'public' } },
  { tool: 'excluded', http: ['GET', 'excluded/public%2F'], args: { id: 'public/' } },
  { tool: 'scoped', http: ['GET', 'scoped'] },
  { tool: 'named', http: ['GET', 'named/secret'], args: { id: 'secret' } },
  { tool: 'named', http: ['GET', 'named/other'], args: { id: 'other' } },
  { tool: 'wild', http: ['GET', 'wild/1/2'], args: { a: '1', b: '2' } },
  { tool: 'wild', http: ['GET', 'wild/1%2F3/2'], args: { a: '1/3', b: '2' } },
  { tool: 'counted', http: ['GET', 'counted'] },
  { tool: 'open', http: ['GET', 'open'] },
];

const KEYS = ['', 'method', 'excluded', 'scoped', 'named', 'wild', 'denied'];

describe.each(platforms())('middleware of routes on %s', platform => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp([], {
      platform,
      module: { imports: [ThingsModule] },
      configure: nest => {
        nest.setGlobalPrefix('api', { exclude: ['mcp'] });
      },
    });
  });
  afterAll(() => app.close());

  it.each(ROWS.flatMap(row => KEYS.map(key => [row.http[1], key, row] as const)))(
    'decides as over REST: %s, with the key %j',
    async (_, key, { tool, http: [method, path], args = {} }) => {
      const headers = { 'x-key': key };
      const response = await fetch(await app.url(`/api/things/${path}`), { method, headers });
      const text = await response.text();
      const rest = response.ok ? text : (JSON.parse(text) as { message: string }).message;
      const client = await app.client({ headers });
      const mcp = await client
        .callTool({ name: tool, arguments: args })
        .then(textOf, (error: Error) => error.message);
      expect(mcp).toBe(rest);
    },
  );
});

@Controller()
class OpenController {
  @Tool() @Get('locked/thing') locked() {
    return 'locked';
  }
  @Tool() @Get('open/thing') open() {
    return 'open';
  }
}

interface Answering {
  statusCode: number;
  setHeader(name: string, value: string): void;
  end(text: string): void;
}

describe.each(platforms())('app.use() with a path, on %s', platform => {
  let app: INestApplication;
  let url: string;

  beforeAll(async () => {
    const adapter = (await ADAPTERS[platform](false)) as AbstractHttpAdapter;
    @Module({
      imports: [McpModule.forRoot({ name: 'test', version: '1.0.0' })],
      controllers: [OpenController],
    })
    class AppModule {}
    app = await NestFactory.create(AppModule, adapter, { logger: false });
    app.use('/locked', (request: Seen, response: Answering, next: () => void) => {
      if (request.headers['x-key'] === 'right') return next();
      response.statusCode = 401;
      response.setHeader('content-type', 'application/json');
      response.end('{"message":"No key"}');
    });
    if (platform === 'express') {
      // Express calls it only after an error.
      app.use('/open', (_: Error, __: Seen, response: Answering, ___: () => void) => {
        response.statusCode = 500;
        response.end('broken');
      });
    }
    await app.listen(0, '127.0.0.1');
    url = (await app.getUrl()).replace('[::1]', '127.0.0.1');
  });
  afterAll(() => app.close());

  it.each([
    ['locked', 'wrong'],
    ['locked', 'right'],
    ['open', 'wrong'],
  ])('decides as over REST: %s, with the key %s', async (name, key) => {
    const headers = { 'x-key': key };
    const response = await fetch(`${url}/${name}/thing`, { headers });
    const text = await response.text();
    const rest = response.ok ? text : (JSON.parse(text) as { message: string }).message;
    const client = await createTestClient(app, { headers });
    const mcp = await client.callTool({ name, arguments: {} }).then(textOf, (error: Error) => error.message);
    await client.close();
    expect(mcp).toBe(rest);
  });
});
