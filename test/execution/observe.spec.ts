import {
  Injectable,
  Module,
  Scope,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { NestFactory, Reflector } from '@nestjs/core';
import { createObserveModule } from '@nestjs/observe';
import { IsInt } from 'class-validator';
import { Args, McpModule, Prompt, Tool } from 'nestjs-mcp';
import { createTestClient } from 'nestjs-mcp/testing';
import { textOf } from '../fixtures/matrix.js';

class OrderDto {
  @IsInt()
  count!: number;
}

@Injectable()
class Roles implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext) {
    return this.reflector.get<string>('role', context.getHandler()) !== 'admin';
  }
}

@Injectable()
class Stock {
  readonly count = 7;

  ordered(count: number) {
    return `${count} of ${this.count}`;
  }
}

@Injectable()
@UseGuards(Roles)
class Tools {
  readonly #stock: Stock;

  constructor(stock: Stock) {
    this.#stock = stock;
  }

  @Tool()
  order(@Args() order: OrderDto) {
    return this.#stock.ordered(order.count);
  }

  @Tool()
  @SetMetadata('role', 'admin')
  closed() {
    return 'closed';
  }
}

@Injectable({ scope: Scope.REQUEST })
class Scoped {
  constructor(private readonly stock: Stock) {}

  @Prompt()
  remind() {
    return `Order ${this.stock.ordered(1)}`;
  }
}

// The instrument alone: the module starts a worker that reports to a collector.
const { ObserveInstrument } = createObserveModule();

@Module({
  imports: [McpModule.forRoot({ name: 'test', version: '1' })],
  providers: [Stock, Tools, Scoped],
})
class App {}

it('@nestjs/observe hides no handler, guard or schema', async () => {
  const app = await NestFactory.create(App, { logger: false, instrument: ObserveInstrument });
  await app.init();
  try {
    const client = await createTestClient(app);
    const { tools } = await client.listTools();
    expect(tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})])).toEqual([
      ['order', ['count']],
      ['closed', []],
    ]);
    const order = (count: unknown) => client.callTool({ name: 'order', arguments: { count } });
    expect(textOf(await order(2))).toBe('2 of 7');
    expect(textOf(await order('two'))).toContain('count must be an integer');
    await expect(client.callTool({ name: 'closed' })).rejects.toMatchObject({ code: -32000 });
    const { messages } = await client.getPrompt({ name: 'remind' });
    expect(messages[0].content).toEqual({ type: 'text', text: 'Order 1 of 7' });
    await client.close();
  } finally {
    await app.close();
  }
});
