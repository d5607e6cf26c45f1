import {
  Body,
  Controller,
  Get,
  Headers,
  Injectable,
  Param,
  Post,
  Query,
  Req,
  Scope,
  UseGuards,
  UseInterceptors,
  UsePipes,
  type CanActivate,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { IsString } from 'class-validator';
import { Args, Ctx, McpContext, Prompt, Resource, Tool } from 'nestjs-mcp';
import { map } from 'rxjs';
import { anyPlatform, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

@Injectable()
class Policy {
  readonly banned = 'mallory';
}

interface HttpRequest {
  headers: Record<string, string>;
}

@Injectable()
class PolicyGuard implements CanActivate {
  constructor(private readonly policy: Policy) {}

  canActivate(context: ExecutionContext) {
    return context.switchToHttp().getRequest<HttpRequest>().headers['x-user'] !== this.policy.banned;
  }
}

const nobody: CanActivate = { canActivate: () => false };
const needsUser: CanActivate = {
  canActivate: context => 'x-user' in context.switchToHttp().getRequest<HttpRequest>().headers,
};

class OrderDto {
  @IsString()
  product!: string;
}

@Controller('orders')
@UseGuards(PolicyGuard)
@UseInterceptors({ intercept: (_context, next) => next.handle().pipe(map(text => `[${String(text)}]`)) })
class Orders {
  constructor(private readonly policy: Policy) {}

  @Tool()
  @Get()
  list() {
    return `all but ${this.policy.banned}'s`;
  }

  @Tool()
  @Post()
  @UsePipes({ transform: (order: OrderDto) => ({ product: order.product.trim() }) })
  order(@Body() { product }: OrderDto) {
    return `one ${product}`;
  }

  @Tool()
  @Get('purge')
  @UseGuards(nobody)
  purge() {
    return 'purged';
  }

  @Tool()
  context(@Ctx() ctx: McpContext) {
    return ctx.method;
  }

  @Prompt()
  review() {
    return 'Review the orders';
  }

  @Resource({ uri: 'orders://all' })
  all() {
    return 'orders';
  }
}

@Controller({ path: 'visits', scope: Scope.REQUEST })
@UseGuards(PolicyGuard)
class Visits {
  private count = 0;

  @Tool()
  @Get()
  visit() {
    return ++this.count;
  }
}

describe.each(anyPlatform())('a controller’s methods on %s', platform => {
  let test: TestApp;
  const clientOf = (user: string) => test.client({ headers: { 'x-user': user } });

  beforeAll(async () => {
    test = await startApp([], {
      platform,
      module: { controllers: [Orders, Visits], providers: [Policy] },
      configure: app => app.useGlobalGuards(needsUser),
    });
  });
  afterAll(() => test.close());

  const rest = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(await test.url(path), {
      ...init,
      headers: { 'content-type': 'application/json', ...init.headers },
    });
    return response.ok ? response.text() : response.status;
  };

  it('serve MCP', async () => {
    const client = await clientOf('ada');
    expect(textOf(await client.callTool({ name: 'list' }))).toBe("[all but mallory's]");
    expect(textOf(await client.callTool({ name: 'order', arguments: { product: ' tea ' } }))).toBe(
      '[one tea]',
    );
    expect(textOf(await client.callTool({ name: 'context' }))).toBe('[tools/call]');
    expect((await client.getPrompt({ name: 'review' })).messages).toMatchObject([
      { content: { text: '[Review the orders]' } },
    ]);
    expect((await client.readResource({ uri: 'orders://all' })).contents).toMatchObject([
      { text: '[orders]' },
    ]);
  });

  it('serve REST as ever', async () => {
    const headers = { 'x-user': 'ada' };
    expect(await rest('/orders', { headers })).toBe("[all but mallory's]");
    const body = JSON.stringify({ product: ' tea ' });
    expect(await rest('/orders', { method: 'POST', headers, body })).toBe('[one tea]');
    expect(await rest('/orders/purge', { headers })).toBe(403);
    expect(await rest('/orders', { headers: { 'x-user': 'mallory' } })).toBe(403);
    expect(await rest('/orders')).toBe(403);
  });

  it('are guarded by the class, with what its guard injects', async () => {
    const client = await clientOf('mallory');
    for (const name of ['list', 'order', 'context', 'visit']) {
      await expect(client.callTool({ name })).rejects.toMatchObject({ code: -32000 });
    }
    await expect(client.getPrompt({ name: 'review' })).rejects.toMatchObject({ code: -32000 });
    await expect(client.readResource({ uri: 'orders://all' })).rejects.toMatchObject({ code: -32000 });
  });

  it('are guarded by the method', async () => {
    const client = await clientOf('ada');
    await expect(client.callTool({ name: 'purge' })).rejects.toMatchObject({ code: -32000 });
  });

  it('are guarded globally', async () => {
    await expect(test.client()).rejects.toThrow(/403|Forbidden/);
  });

  it('may be request-scoped', async () => {
    const client = await clientOf('ada');
    expect(textOf(await client.callTool({ name: 'visit' }))).toBe('1');
    expect(textOf(await client.callTool({ name: 'visit' }))).toBe('1');
    expect(await rest('/visits', { headers: { 'x-user': 'ada' } })).toBe('1');
  });
});

/** Parameters that only a route can fill in. */
const ROUTE_ONLY: Record<string, () => ParameterDecorator> = {
  '@Query()': () => Query('q'),
  '@Param()': () => Param('id'),
  '@Headers()': () => Headers('host'),
  '@Req()': () => Req(),
};

describe('a controller’s method that MCP could not call', () => {
  it.each(Object.entries(ROUTE_ONLY))('stops the start: %s', async (_name, decorator) => {
    @Controller('search')
    class Search {
      @Tool()
      find(@Args('q') _q: string, @decorator() _value: string) {}
    }
    await expect(startApp([], { module: { controllers: [Search] } })).rejects.toThrow(
      'Search.find: parameter 2 has a decorator that only HTTP routes have; use @Args(), @Ctx() or @UriParams() instead',
    );
  });

  it('may take @Body(), which is what @Args() is to a route', async () => {
    @Controller('orders')
    class Bodies {
      @Tool({ inputSchema: OrderDto })
      @Post()
      order(@Body() { product }: OrderDto) {
        return product;
      }
    }
    const test = await startApp([], { module: { controllers: [Bodies] } });
    const client = await test.client();
    const result = await client.callTool({ name: 'order', arguments: { product: 'tea' } });
    expect(textOf(result)).toBe('tea');
    await test.close();
  });
});

describe('a guard that Nest would drop', () => {
  @Injectable()
  @UseGuards(PolicyGuard)
  class Guarded {
    @Tool()
    purge() {
      return 'purged';
    }
  }

  @Injectable()
  class MethodGuarded {
    @Tool()
    @UseGuards(PolicyGuard)
    purge() {
      return 'purged';
    }
  }

  it.each<[string, Type]>([
    ['class', Guarded],
    ['method', MethodGuarded],
  ])('stops the start, for a class made by a factory: on the %s', async (_where, type) => {
    const starting = startApp([], {
      module: { providers: [Policy, { provide: 'TOOLS', useFactory: () => new type() as object }] },
    });
    await expect(starting).rejects.toThrow(
      `${type.name}.purge: PolicyGuard would not run, because ${type.name} is not registered as a class; ` +
        `list ${type.name} itself in providers or controllers, or pass an instance to the decorator`,
    );
  });

  it('runs for a class behind a token', async () => {
    const test = await startApp([], {
      module: { providers: [Policy, { provide: 'TOOLS', useClass: Guarded }] },
    });
    const client = await test.client({ headers: { 'x-user': 'mallory' } });
    await expect(client.callTool({ name: 'purge' })).rejects.toMatchObject({ code: -32000 });
    await test.close();
  });
});
