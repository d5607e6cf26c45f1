import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  Param,
  Post,
  Put,
  Query,
  Res,
  StreamableFile,
  UseGuards,
} from '@nestjs/common';
import { ApiOperation, ApiQuery } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { Tool } from 'nestjs-mcp';
import { startApp, textOf, type TestApp } from '../../fixtures/matrix.js';

class NameDto {
  @IsString()
  name!: string;
}

@Controller('orders')
class OrdersController {
  @Get()
  @ApiOperation({ summary: 'Lists orders', description: 'The newest first.' })
  @ApiQuery({ name: 'status', enum: ['open', 'closed'], description: 'Only these', required: false })
  list(@Query('status') status?: string) {
    return `all ${status ?? ''}`;
  }

  @Get(':id')
  find(@Param('id') id: string) {
    return { id };
  }

  @Get('latest/one')
  latest() {
    return { id: 'latest' };
  }

  @Post()
  create(@Body() { name }: NameDto) {
    return name;
  }

  @Put(':id')
  replace(@Param('id') id: string, @Body() { name }: NameDto) {
    return { id, name };
  }

  @Delete(':id')
  cancelAll(@Param('id') id: string) {
    return id;
  }

  @Get('export/csv')
  export(@Res() _response: unknown) {}

  @Tool(false)
  @Get('secret/key')
  secret() {
    return 'secret';
  }

  @Tool({ name: 'count_orders' })
  @Get('count/all')
  @UseGuards()
  count() {
    return 3;
  }

  @Get('report/latest')
  @Header('Content-Type', 'application/pdf')
  report() {
    return new StreamableFile(Buffer.from('%PDF'));
  }

  helper() {
    return 'no route';
  }
}

function twinController() {
  @Controller('old/orders')
  class OrdersController {
    @Get()
    list() {
      return 'old';
    }
  }
  return OrdersController;
}
const TwinController = twinController();

@Controller('users')
class UsersController {
  @Get()
  all() {
    return 'users';
  }
}

/** Keeps what the server logs at its start. */
class StartLog {
  readonly logged: string[] = [];
  readonly told: string[] = [];
  warn() {}
  error() {}
  log(message: string) {
    this.logged.push(message);
  }
  verbose(message: string) {
    this.told.push(message);
  }
}

describe('the option "routes"', () => {
  let log: StartLog;
  let app: TestApp;
  beforeEach(() => (log = new StartLog()));
  afterEach(() => app?.close());

  const start = async (routes: object) =>
    (app = await startApp([], {
      mcp: { routes: { include: [OrdersController], ...routes } },
      module: { controllers: [OrdersController, UsersController, TwinController] },
      configure: nest => nest.useLogger(log),
    }));

  it('makes tools of the routes of the named controllers only', async () => {
    await start({});
    const { tools } = await (await app.client()).listTools();
    expect(Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations ?? {}]))).toEqual({
      count_orders: { readOnlyHint: true },
      orders_list: { readOnlyHint: true },
      orders_find: { readOnlyHint: true },
      orders_latest: { readOnlyHint: true },
      orders_report: { readOnlyHint: true },
      orders_create: {},
      orders_replace: { idempotentHint: true },
      orders_cancel_all: { destructiveHint: true, idempotentHint: true },
    });
    const list = tools.find(({ name }) => name === 'orders_list');
    expect(list).toMatchObject({
      description: 'Lists orders\n\nThe newest first.',
      inputSchema: {
        properties: { status: { type: 'string', enum: ['open', 'closed'], description: 'Only these' } },
      },
    });
    expect(list?.inputSchema.required).toBeUndefined();
  });

  it('takes only the HTTP methods that it names', async () => {
    await start({ methods: ['GET'] });
    const { tools } = await (await app.client()).listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'count_orders',
      'orders_find',
      'orders_latest',
      'orders_list',
      'orders_report',
    ]);
  });

  it('makes resources of GET routes that have only path parameters', async () => {
    await start({ resources: true });
    const client = await app.client();
    const { resources } = await client.listResources();
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resources.map(({ uri }) => uri)).toEqual([
      'route://orders/latest/one',
      'route://orders/report/latest',
    ]);
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['route://orders/{id}']);
    const { contents } = await client.readResource({ uri: 'route://orders/7' });
    expect(contents).toMatchObject([{ mimeType: 'application/json', text: '{"id":"7"}' }]);
    const report = await client.readResource({ uri: 'route://orders/report/latest' });
    expect(report.contents).toMatchObject([{ mimeType: 'application/pdf', blob: 'JVBERg==' }]);
  });

  it('logs how many it has made, and why it left out others', async () => {
    await start({});
    expect(log.logged).toContainEqual(
      '7 tools are routes of OrdersController; 1 route is left out, which the verbose log explains',
    );
    expect(log.told).toContainEqual(
      expect.stringContaining('Left out: OrdersController.export: @Res() answers by itself'),
    );
  });

  it('counts a route once that is neither a tool nor a resource', async () => {
    await start({ methods: ['GET'], resources: true });
    expect(log.logged).toContainEqual(
      '4 tools and 3 resources are routes of OrdersController; 1 route is left out, which the verbose log explains',
    );
  });

  it('calls them', async () => {
    await start({});
    const client = await app.client();
    const call = async (name: string, args: Record<string, unknown>) =>
      textOf(await client.callTool({ name, arguments: args }));
    expect(await call('orders_replace', { id: '7', name: 'tea' })).toBe('{"id":"7","name":"tea"}');
    expect(await call('orders_list', { status: 'open' })).toBe('all open');
    expect(await call('count_orders', {})).toBe('3');
  });

  it('stops the start for a class that is no controller', async () => {
    await expect(start({ include: [NameDto] })).rejects.toThrow(
      '"routes.include" has NameDto, which no module lists in "controllers"',
    );
  });

  it('stops the start for two routes of one name', async () => {
    await expect(start({ include: [OrdersController, TwinController] })).rejects.toThrow(/orders_list/);
  });

  it('stops the start for an unknown HTTP method', async () => {
    await expect(start({ methods: ['FETCH'] })).rejects.toThrow(/"routes.methods/);
  });
});
