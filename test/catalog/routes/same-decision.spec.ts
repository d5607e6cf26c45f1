import {
  ArgumentsHost,
  BadRequestException,
  Body,
  Catch,
  Controller,
  createParamDecorator,
  DefaultValuePipe,
  Delete,
  ForbiddenException,
  Get,
  HttpCode,
  HttpException,
  Injectable,
  Ip,
  Module,
  NotFoundException,
  Param,
  ParseArrayPipe,
  ParseBoolPipe,
  ParseEnumPipe,
  ParseFloatPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  Patch,
  Post,
  Put,
  Query,
  UnauthorizedException,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type ExecutionContext,
  type MiddlewareConsumer,
  type NestInterceptor,
  type NestMiddleware,
  type NestModule,
  type PipeTransform,
} from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { Transform, Type } from 'class-transformer';
import { IsEmail, IsInt, IsOptional, IsString, MaxLength, Min } from 'class-validator';
import { map, of } from 'rxjs';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { platforms, startApp, type TestApp } from '../../fixtures/matrix.js';

enum Color {
  Red = 'red',
  Blue = 'blue',
}

class ListDto {
  @Type(() => Number)
  @IsInt()
  @Min(1)
  limit = 10;

  @IsOptional()
  @IsString()
  search?: string;
}

class ReasonDto {
  @IsString()
  @MaxLength(10)
  reason!: string;

  @IsOptional()
  @IsEmail()
  email?: string;
}

class TagsDto {
  @Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value : [value]))
  @IsString({ each: true })
  tags!: string[];
}

interface Seen {
  params: Record<string, string>;
  query: Record<string, unknown>;
  body?: Record<string, unknown>;
  headers: Record<string, string>;
  user?: string;
  raw?: Seen;
}

const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<Seen>();

/** Admits only what belongs to the caller: everything else than HTTP, too, as many guards do. */
@Injectable()
class OwnerGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    if (context.getType() !== 'http') return true;
    const { params, body } = requestOf(context);
    if (body?.['reason'] === 'teapot') throw new HttpException('I am a teapot', 418);
    return params['id'] !== '13';
  }
}

@Injectable()
class HeaderGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    if (requestOf(context).headers['x-key'] === 'secret') return true;
    throw new UnauthorizedException('No key');
  }
}

@Injectable()
class WrapInterceptor implements NestInterceptor {
  intercept(_: ExecutionContext, next: CallHandler) {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

@Injectable()
class CacheInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    return requestOf(context).query['cached'] === 'true' ? of('from the cache') : next.handle();
  }
}

@Catch(RangeError)
class ExpressFilter implements ExceptionFilter {
  catch(error: RangeError, host: ArgumentsHost) {
    const response = host
      .switchToHttp()
      .getResponse<{ status(code: number): { send(body: object): void } }>();
    response.status(409).send({ statusCode: 409, message: `out of range: ${error.message}` });
  }
}

@Catch(TypeError)
class BaseFilter extends BaseExceptionFilter {
  override catch(error: TypeError, host: ArgumentsHost) {
    super.catch(new BadRequestException(`bad type: ${error.message}`), host);
  }
}

const Who = createParamDecorator((_: unknown, context: ExecutionContext) => {
  const request = requestOf(context);
  return request.user ?? request.raw?.user ?? 'nobody';
});

@Injectable()
class DoublePipe implements PipeTransform {
  transform(value: string) {
    return `${value}${value}`;
  }
}

@Controller('things')
@UseGuards(OwnerGuard)
class ThingsController {
  @Tool() @Get('plain/:id') plain(@Param('id') id: string) {
    return { id };
  }
  @Tool() @Get('int/:id') int(@Param('id', ParseIntPipe) id: number) {
    return { id, type: typeof id };
  }
  @Tool() @Get('float/:id') float(@Param('id', ParseFloatPipe) id: number) {
    return { id, type: typeof id };
  }
  @Tool() @Get('uuid/:id') uuid(@Param('id', ParseUUIDPipe) id: string) {
    return { id };
  }
  @Tool() @Get('enum/:id') color(@Param('id', new ParseEnumPipe(Color)) id: Color) {
    return { id };
  }
  @Tool() @Get('double/:id') double(@Param('id', DoublePipe) id: string) {
    return { id };
  }
  @Tool() @Get('all/:id') all(@Param() params: Record<string, string>) {
    return { ...params };
  }
  @Tool() @Get('bool') bool(@Query('flag', ParseBoolPipe) flag: boolean) {
    return { flag, type: typeof flag };
  }
  @Tool() @Get('page') page(@Query('page', new DefaultValuePipe(1), ParseIntPipe) page: number) {
    return { page };
  }
  @Tool() @Get('text') text(@Query('q') q?: string) {
    return { q, type: typeof q };
  }
  @Tool() @Get('list') list(@Query() query: ListDto) {
    return { ...query, type: typeof query.limit };
  }
  @Tool()
  @Get('valid')
  @UsePipes(new ValidationPipe({ transform: true }))
  valid(@Query() query: ListDto) {
    return { ...query, isDto: query instanceof ListDto };
  }
  @Tool()
  @Get('tags')
  @UsePipes(new ValidationPipe({ transform: true }))
  tags(@Query() { tags }: TagsDto) {
    return { tags };
  }
  @Tool() @Get('array') array(@Query('ids', new ParseArrayPipe({ items: Number })) ids: number[]) {
    return { ids };
  }
  @Tool()
  @Post(':id/cancel')
  @HttpCode(202)
  @UsePipes(new ValidationPipe())
  cancel(
    @Param('id', ParseIntPipe) id: number,
    @Query('notify', new DefaultValuePipe(false), ParseBoolPipe) notify: boolean,
    @Body() { reason, email }: ReasonDto,
  ) {
    return { id, notify, reason, email };
  }
  @Tool()
  @Put('strict/:id')
  @UsePipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, transform: true }))
  strict(@Param('id') id: number, @Body() body: ReasonDto) {
    return { id, type: typeof id, isDto: body instanceof ReasonDto };
  }
  @Tool() @Patch('field/:id') field(@Param('id') id: string, @Body('name') name: string) {
    return { id, name };
  }
  @Tool() @Post('bulk') bulk(@Body(new ParseArrayPipe({ items: ReasonDto })) body: ReasonDto[]) {
    return { count: body.length };
  }
  @Tool() @Get('wrapped/:id') @UseInterceptors(WrapInterceptor) wrapped(@Param('id') id: string) {
    return id;
  }
  @Tool() @Get('cached') @UseInterceptors(CacheInterceptor) cached(@Query('cached') cached?: string) {
    return `fresh ${cached}`;
  }
  @Tool() @Delete('gone/:id') gone(@Param('id') id: string) {
    throw new NotFoundException(`There is no ${id}`);
  }
  @Tool() @Get('range/:id') @UseFilters(ExpressFilter) range(@Param('id') id: string) {
    throw new RangeError(id);
  }
  @Tool() @Get('type/:id') @UseFilters(BaseFilter) type(@Param('id') id: string) {
    throw new TypeError(id);
  }
  @Tool() @Get('broken') broken() {
    throw new Error('the password of the database is wrong');
  }
  @Tool() @Get('key') @UseGuards(HeaderGuard) key() {
    return 'in';
  }
  @Tool() @Get('who') who(@Who() who: string) {
    return { who };
  }
  @Tool() @Get('ctx') ctx(@Ctx() ctx?: McpContext) {
    return { isUndefined: ctx === undefined };
  }
  @Tool() @Get('bare') bare() {
    throw new HttpException({ errors: { user: 'not found' } }, 422);
  }
  @Tool() @Get('async') async async() {
    await Promise.resolve();
    throw new ForbiddenException('Not now');
  }
  @Tool() @Get('observable') observable() {
    return of({ last: true });
  }
  @Tool() @Get('ip') ip(@Ip() ip: string) {
    return { hasIp: ip.length > 0 };
  }
  @Tool() @Get('login') login(@Who() who: string) {
    return { who };
  }
  @Tool() @Get('silent') silent() {
    return 'not reached';
  }
}

type Node = Seen & {
  statusCode: number;
  end(body: string): void;
  setHeader(name: string, value: string): void;
};

@Injectable()
class LoginMiddleware implements NestMiddleware {
  use(request: Seen, response: Node, next: (error?: unknown) => void) {
    const key = request.headers['x-user'];
    if (key === 'thrown') throw new UnauthorizedException('Thrown by the login');
    if (key === 'passed') return next(new ForbiddenException('Passed by the login'));
    if (key === 'answered') {
      response.statusCode = 401;
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ statusCode: 401, message: 'Answered by the login' }));
    }
    request.user = key;
    next();
  }
}

@Module({ controllers: [ThingsController], providers: [DoublePipe] })
class ThingsModule implements NestModule {
  configure(consumer: MiddlewareConsumer) {
    consumer.apply(LoginMiddleware).forRoutes('things/login');
  }
}

const UUID = '5f0c8a3e-5b0f-4a7e-9d3c-2f1a6b7c8d9e';

interface Row {
  readonly tool: string;
  readonly http: readonly [method: string, path: string, body?: unknown];
  readonly args: Record<string, unknown>;
  readonly headers?: Record<string, string>;
}

const get = (
  tool: string,
  path: string,
  args: Record<string, unknown> = {},
  headers?: Record<string, string>,
): Row => ({
  tool,
  http: ['GET', path],
  args,
  headers,
});

/** The adapter of the fixtures for plain Node keeps the last value of a name. */
const LISTS = get('tags', 'tags?tags=a&tags=b', { tags: ['a', 'b'] });

const ROWS: readonly Row[] = [
  get('plain', 'plain/7', { id: '7' }),
  get('plain', 'plain/a%2Fb', { id: 'a/b' }),
  get('plain', 'plain/a%252fb', { id: 'a%2fb' }),
  get('plain', "plain/%22'%3C", { id: '"\'<' }),
  get('plain', 'plain/a%0D%0Ab', { id: 'a\r\nb' }),
  get('plain', 'plain/13', { id: '13' }),
  get('int', 'int/7', { id: 7 }),
  get('int', 'int/7', { id: '7' }),
  get('int', 'int/x', { id: 'x' }),
  get('int', 'int/7.5', { id: 7.5 }),
  get('float', 'float/7.5', { id: 7.5 }),
  get('float', 'float/x', { id: 'x' }),
  get('uuid', `uuid/${UUID}`, { id: UUID }),
  get('uuid', 'uuid/7', { id: '7' }),
  get('color', 'enum/red', { id: 'red' }),
  get('color', 'enum/green', { id: 'green' }),
  get('double', 'double/ab', { id: 'ab' }),
  get('all', 'all/7', { id: '7' }),
  get('bool', 'bool?flag=true', { flag: true }),
  get('bool', 'bool?flag=x', { flag: 'x' }),
  get('bool', 'bool'),
  get('page', 'page'),
  get('page', 'page?page=3', { page: 3 }),
  get('page', 'page?page=x', { page: 'x' }),
  get('text', 'text'),
  get('text', 'text?q=a%26b%3Dc', { q: 'a&b=c' }),
  get('list', 'list?limit=5', { limit: 5 }),
  get('list', 'list?limit=5&search=x', { limit: 5, search: 'x' }),
  get('valid', 'valid'),
  get('valid', 'valid?limit=5', { limit: 5 }),
  get('valid', 'valid?limit=0', { limit: 0 }),
  get('valid', 'valid?limit=x&search=y', { limit: 'x', search: 'y' }),
  get('array', 'array?ids=1,2', { ids: [1, 2] }),
  get('array', 'array?ids=x', { ids: ['x'] }),
  { tool: 'cancel', http: ['POST', '7/cancel', { reason: 'late' }], args: { id: 7, reason: 'late' } },
  {
    tool: 'cancel',
    http: ['POST', '7/cancel?notify=true', { reason: 'late' }],
    args: { id: 7, notify: true, reason: 'late' },
  },
  {
    tool: 'cancel',
    http: ['POST', '7/cancel', { reason: 'much too long' }],
    args: { id: 7, reason: 'much too long' },
  },
  {
    tool: 'cancel',
    http: ['POST', '7/cancel', { reason: 5, email: 'x' }],
    args: { id: 7, reason: 5, email: 'x' },
  },
  { tool: 'cancel', http: ['POST', '7/cancel', {}], args: { id: 7 } },
  { tool: 'cancel', http: ['POST', 'x/cancel', { reason: 'late' }], args: { id: 'x', reason: 'late' } },
  { tool: 'cancel', http: ['POST', '13/cancel', { reason: 'late' }], args: { id: 13, reason: 'late' } },
  { tool: 'cancel', http: ['POST', '13/cancel', { reason: 5 }], args: { id: 13, reason: 5 } },
  { tool: 'cancel', http: ['POST', '7/cancel', { reason: 'teapot' }], args: { id: 7, reason: 'teapot' } },
  {
    tool: 'cancel',
    http: ['POST', '7/cancel', { reason: 'late', email: null }],
    args: { id: 7, reason: 'late', email: null },
  },
  { tool: 'strict', http: ['PUT', 'strict/7', { reason: 'late' }], args: { id: 7, reason: 'late' } },
  {
    tool: 'strict',
    http: ['PUT', 'strict/7', { reason: 'late', email: 'x' }],
    args: { id: 7, reason: 'late', email: 'x' },
  },
  { tool: 'field', http: ['PATCH', 'field/7', { name: 'n' }], args: { id: '7', name: 'n' } },
  { tool: 'bulk', http: ['POST', 'bulk', [{ reason: 'a' }]], args: { body: [{ reason: 'a' }] } },
  { tool: 'bulk', http: ['POST', 'bulk', [{ reason: 5 }]], args: { body: [{ reason: 5 }] } },
  get('wrapped', 'wrapped/7', { id: '7' }),
  get('wrapped', 'wrapped/13', { id: '13' }),
  get('cached', 'cached?cached=true', { cached: 'true' }),
  get('cached', 'cached?cached=false', { cached: 'false' }),
  { tool: 'gone', http: ['DELETE', 'gone/7'], args: { id: '7' } },
  get('range', 'range/7', { id: '7' }),
  get('type', 'type/7', { id: '7' }),
  get('broken', 'broken'),
  get('key', 'key'),
  get('key', 'key', {}, { 'x-key': 'secret' }),
  get('who', 'who'),
  get('bare', 'bare'),
  get('async', 'async'),
  get('observable', 'observable'),
  get('ip', 'ip'),
  get('login', 'login', {}, { 'x-user': 'ada' }),
  get('login', 'login', {}, { 'x-user': 'thrown' }),
  get('login', 'login', {}, { 'x-user': 'passed' }),
  get('login', 'login', {}, { 'x-user': 'answered' }),
  get('silent', 'silent', {}, { 'x-user': 'thrown' }),
];

interface Outcome {
  readonly value?: unknown;
  readonly error?: unknown;
}

async function overHttp(app: TestApp, { http: [method, path, body], headers }: Row): Promise<Outcome> {
  const response = await fetch(await app.url(`/api/v1/things/${path}`), {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.ok) return { value: jsonOf(text) };
  // Without a message, the body is the error.
  const { message = text } = JSON.parse(text) as { message?: string | string[] };
  // What nobody expected has no message on either way.
  return { error: response.status === 500 ? 'internal' : [message].flat().join('; ') };
}

async function overMcp(
  app: TestApp,
  { tool, args, headers }: Row,
  era: 'modern' | 'legacy',
): Promise<Outcome> {
  const client = await app.client({ era, headers });
  const call = client.callTool({ name: tool, arguments: args });
  try {
    const result = await call;
    const [block] = result.content as { text?: string }[];
    const text = block?.text ?? '';
    if (!result.isError) return { value: jsonOf(text) };
    return { error: text.startsWith('Internal error') ? 'internal' : text };
  } catch (error) {
    return { error: (error as Error).message.replace(/^MCP error -?\d+: /, '') };
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

describe.each(platforms())('a route as a tool on %s', platform => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp([], {
      platform,
      module: { imports: [ThingsModule] },
      configure: nest => {
        nest.setGlobalPrefix('api/v1', { exclude: ['mcp'] });
      },
    });
  });

  afterAll(() => app.close());

  const rows = platform === 'node' ? ROWS : [...ROWS, LISTS];
  it.each(
    rows.map(
      row => [`${row.tool} ${JSON.stringify(row.args)} ${JSON.stringify(row.headers ?? {})}`, row] as const,
    ),
  )('has the same value or error over REST and in both eras: %s', async (_, row) => {
    const rest = await overHttp(app, row);
    expect(await overMcp(app, row, 'modern')).toEqual(rest);
    expect(await overMcp(app, row, 'legacy')).toEqual(rest);
  });
});
