import { AsyncLocalStorage } from 'node:async_hooks';
import {
  Body,
  Catch,
  Controller,
  createParamDecorator,
  Get,
  HttpException,
  Injectable,
  Param,
  Post,
  Query,
  SetMetadata,
  UnauthorizedException,
  UnprocessableEntityException,
  UseFilters,
  UseGuards,
  UsePipes,
  ValidationPipe,
  type ArgumentsHost,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type MiddlewareConsumer,
  type NestModule,
} from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsEmail, IsNotEmpty, IsOptional } from 'class-validator';
import { Tool } from 'nestjs-mcp';
import { createZodDto } from 'nestjs-zod';
import { z } from 'zod';
import { platforms, startApp, textOf, type TestApp } from '../../fixtures/matrix.js';
import { openSession } from '../../fixtures/raw-session.js';

class CountsDto extends createZodDto(z.object({ a: z.string() }).catchall(z.number())) {}
class OpenDto extends createZodDto(z.looseObject({ id: z.number() })) {}

class LoginDto {
  @ApiProperty()
  @IsEmail()
  email!: string;

  @ApiProperty()
  @IsNotEmpty()
  password!: string;
}

const inOwnWords = new ValidationPipe({
  exceptionFactory: ([{ property }]) => new UnprocessableEntityException(`look at ${property}`),
});

class ModelDto {
  @IsOptional()
  @ApiProperty({ maximum: 5 })
  size?: number;
}

interface Response {
  readonly locals: Record<string, unknown>;
  status(code: number): { send(body: object): unknown; json(body: object): unknown };
  redirect(url: string): void;
}

interface Seen {
  readonly headers: Record<string, string>;
  readonly params: Record<string, string>;
  readonly query: Record<string, unknown>;
  readonly res?: Response;
  readonly routeOptions?: { readonly url?: string; readonly config?: { readonly role?: string } };
}

const requestIn = (context: ArgumentsHost) => context.switchToHttp().getRequest<Seen>();
const responseIn = (context: ArgumentsHost) => context.switchToHttp().getResponse<Response>();

/** Returns its response, as many filters do. */
@Catch(HttpException)
class ReturningFilter implements ExceptionFilter {
  catch(error: HttpException, host: ArgumentsHost) {
    return responseIn(host).status(error.getStatus()).send({ message: error.message });
  }
}

class DenyingGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    responseIn(context).locals['password'] = 'hunter2';
    throw new UnauthorizedException('who are you');
  }
}

/** Answers through the response that Express has on the request. */
class AnsweringGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    requestIn(context).res?.status(402).json({ message: 'pay first' });
    return false;
  }
}

/** Reads what `@RouteConfig()` of Fastify sets. */
class RoleGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { routeOptions } = requestIn(context);
    return routeOptions === undefined || routeOptions.config?.role !== 'admin';
  }
}

const queries: unknown[] = [];
class QueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    queries.push({ ...requestIn(context).query });
    return true;
  }
}

const store = new AsyncLocalStorage<string>();

/** Writes on the request, waits for the other calls, and reads again. */
const Owner = createParamDecorator(async (_: unknown, context: ExecutionContext) => {
  const request = requestIn(context);
  request.headers['x-owner'] = request.params['id'];
  await new Promise(setImmediate);
  return request.headers['x-owner'];
});

@Injectable()
@Controller('parts')
class PartsController {
  @Tool() @UseGuards(DenyingGuard) @UseFilters(ReturningFilter) @Get('denied') denied() {
    return 'secret';
  }
  @Tool() @UseGuards(AnsweringGuard) @Get('paid') paid() {
    return 'secret';
  }
  @Tool()
  @UseGuards(RoleGuard)
  @SetMetadata('__fastify_route_config__', { role: 'admin' })
  @Get('admin')
  admin() {
    return 'secret';
  }
  @Tool() @Get('redirected') redirected() {
    return 'secret';
  }
  @Tool() @Get('tenant') tenant() {
    return `tenant ${store.getStore()}`;
  }
  @Tool() @Get('watched') watched() {
    return 'watched';
  }
  @Tool({ inputSchema: z.object({ key: z.any() }) }) @UseGuards(QueryGuard) @Get('found') found(
    @Query('key') key: unknown,
  ) {
    return typeof key;
  }
  @Tool() @Get('owner/:id') owner(@Param('id') id: string, @Owner() owner: string) {
    return `${id} ${owner}`;
  }
  @Tool() @Post('counts') counts(@Body() body: CountsDto) {
    return JSON.stringify(body);
  }
  @Tool({ params: { 'path.id': 'noteId', 'body.id': 'newId' } }) @Post('notes/:id') renamed(
    @Param('id') id: string,
    @Body() body: OpenDto,
  ) {
    return JSON.stringify({ id, body });
  }
  @Tool() @UsePipes(inOwnWords) @Post('login') login(@Body() { email }: LoginDto) {
    return email;
  }
  @Tool() @UsePipes(new ValidationPipe()) @Post('sized') sized(@Body() { size }: ModelDto) {
    return `size ${size}`;
  }
}

class PartsModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply((_: unknown, response: { writeHead(status: number, headers: object): { end(): void } }) => {
        response.writeHead(302, { location: '/login' }).end();
      })
      .forRoutes('parts/redirected');
    consumer
      .apply((_: unknown, __: unknown, next: () => void) => store.run('t1', next))
      .forRoutes('parts/tenant');
    consumer
      .apply((_: unknown, response: { socket: unknown; write: unknown }, next: () => void) => {
        // As `on-finished` and compression do.
        response.write = response.socket ? response.write : () => true;
        next();
      })
      .forRoutes('parts/watched');
  }
}

describe.each(platforms())('the request of a route as a tool (%s)', platform => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startApp([], {
      platform,
      module: { controllers: [PartsController], imports: [PartsModule] },
    });
    await test.url();
  });
  afterAll(() => test.close());

  const called = async (name: string, args: object = {}) => {
    const client = await test.client();
    try {
      const result = await client.callTool({ name, arguments: { ...args } });
      return { isError: result.isError === true, text: textOf(result) };
    } catch (error) {
      return { isError: true, text: (error as Error).message };
    }
  };

  it('is refused with what a filter answers, although the filter returns its response', async () => {
    await expect(called('denied')).resolves.toEqual({ isError: true, text: 'who are you' });
  });

  it('does not reach the response of the endpoint', async () => {
    const text = platform === 'fastify' ? 'Forbidden resource' : 'pay first';
    await expect(called('paid')).resolves.toEqual({ isError: true, text });
  });

  it('has the configuration of the route on Fastify', async () => {
    const { text } = await called('admin');
    expect(text === 'secret').toBe(platform !== 'fastify');
  });

  it('is refused by an answer of middleware without an error status', async () => {
    const { isError, text } = await called('redirected');
    expect([isError, text.includes('secret')]).toEqual([true, false]);
  });

  it.each([
    ['tenant', 'tenant t1'],
    ['watched', 'watched'],
  ])('passes ordinary middleware: %s', async (name, text) => {
    await expect(called(name)).resolves.toEqual({ isError: false, text });
  });

  it('has no value that its URL cannot hold', async () => {
    queries.length = 0;
    await called('found', { key: { $ne: '1' } });
    expect(queries).toEqual([{ 'key[$ne]': '1' }]);
  });

  it('has no argument under the name that it had before it was renamed', async () => {
    await expect(called('renamed', { noteId: 'a', newId: 1 })).resolves.toMatchObject({ isError: false });
    const { isError, text } = await called('renamed', { noteId: 'a', newId: 1, id: 'evil' });
    expect([isError, text.includes('evil')]).toEqual([true, false]);
  });

  it('has no further argument that an open schema refuses', async () => {
    await expect(called('counts', { a: 'x', b: 1 })).resolves.toEqual({
      isError: false,
      text: '{"a":"x","b":1}',
    });
    await expect(called('counts', { a: 'x', b: 'evil' })).resolves.toMatchObject({ isError: true });
  });

  it('has no argument that the pipe of the route accepts against what is listed', async () => {
    await expect(called('sized', { size: 5 })).resolves.toEqual({ isError: false, text: 'size 5' });
    await expect(called('sized', { size: 6 })).resolves.toMatchObject({ isError: true });
  });

  it.each([
    [{ email: 'none', password: 'x' }, 'look at email'],
    [{ email: 'ada@example.com' }, 'look at password'],
    [{ email: 'ada@example.com', password: 5 }, /password: must be string/],
  ])('leaves what class-validator checks to the pipe of the route: %j', async (args, text) => {
    const error = { isError: true, text: text instanceof RegExp ? expect.stringMatching(text) : text };
    await expect(called('login', args)).resolves.toEqual(error);
  });

  it('shares no headers with another call of its batch', async () => {
    const url = await test.url();
    const headers = await openSession(url, { protocolVersion: '2025-03-26' });
    const call = (id: string) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'owner', arguments: { id } },
    });
    const body = JSON.stringify([call('one'), call('two')]);
    const text = await (await fetch(url, { method: 'POST', headers, body })).text();
    expect(text).toContain('one one');
    expect(text).toContain('two two');
  });
});
