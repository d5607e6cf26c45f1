// Nest without MCP: a route that takes the same requests, and answers with the same JSON.
import 'reflect-metadata';
import {
  Body,
  Controller,
  createParamDecorator,
  Headers,
  HttpCode,
  Module,
  Post,
  UseGuards,
  ValidationPipe,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { startBackend } from './backend.js';
import { addMethod, textResult, toolsOf } from './catalog.js';
import { OrderDto, receipt, Roles, RolesGuard } from './orders.js';
import { createApp, readSetup, serve } from './setup.js';

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly arguments: { readonly text: string } };
}

const setup = readSetup();
const serverInfo = { name: 'bench', version: '1.0.0' };
const stamp =
  setup.era === '2026-07-28'
    ? { resultType: 'complete', _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo } }
    : {};
const list = {
  tools: toolsOf(setup.tools).map(({ name, description, schema }) => {
    const { $schema: _, ...inputSchema } = schema['~standard'].jsonSchema.input({ target: 'draft-2020-12' });
    return { name, description, inputSchema };
  }),
  ttlMs: 0,
  cacheScope: 'private',
};
const answer = (id: number, result: object) => ({ jsonrpc: '2.0', id, result: { ...stamp, ...result } });

const Arguments = createParamDecorator(
  (_: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<{ body: Call }>().body.params.arguments,
);

@Controller('mcp')
class Bare {
  @Post()
  @HttpCode(200)
  call(@Body() { id, method, params }: Call) {
    return method === 'tools/list' ? answer(id, list) : answer(id, textResult(params.arguments.text));
  }
}

const backend = setup.isProxy ? await startBackend(setup) : '';

@Controller('mcp')
class Proxy {
  @Post()
  @HttpCode(200)
  async call(@Body() body: Call, @Headers() headers: Record<string, string>): Promise<unknown> {
    const { host: _host, connection: _connection, 'content-length': _length, ...own } = headers;
    const response = await fetch(backend, { method: 'POST', headers: own, body: JSON.stringify(body) });
    return response.json();
  }
}

@Controller('mcp')
class Guarded {
  @Post()
  @HttpCode(200)
  @UseGuards(RolesGuard)
  @Roles('customer')
  order(@Body('id') id: number, @Arguments() order: OrderDto) {
    return answer(id, textResult(receipt(order)));
  }
}

@Controller('mcp')
class Routed {
  @Post()
  @HttpCode(200)
  @UseGuards(RolesGuard)
  @Roles('customer')
  order(@Body() order: OrderDto) {
    return receipt(order);
  }
}

@Controller('mcp')
class ManyRoutes {}
for (let index = 1; index < setup.tools; index++) {
  addMethod(ManyRoutes.prototype, `route${index}`, () => 'answered', Post(`route-${index}`), HttpCode(200));
}

const controllers: Partial<Record<string, Type>> = { guarded: Guarded, route: Routed };

@Module({ controllers: [setup.isProxy ? Proxy : (controllers[setup.feature ?? ''] ?? Bare), ManyRoutes] })
class App {}

const app = await createApp(App, setup.platform);
if (setup.feature! in controllers) {
  app.useGlobalPipes(
    new ValidationPipe({ transform: true, whitelist: true, validateCustomDecorators: true }),
  );
}
await serve(app);
