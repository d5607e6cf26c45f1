import { setTimeout as work } from 'node:timers/promises';
import { Body, Controller, Injectable, Logger, Post } from '@nestjs/common';
import { Args, Ctx, McpContext, McpServerRegistry, ResourceTemplate, Tool, UriParams } from 'nestjs-mcp';

@Injectable()
export class Warehouse {
  private readonly logger = new Logger(Warehouse.name);
  private readonly stock = new Map([['apples', 10]]);

  @ResourceTemplate({ uriTemplate: 'stock://{item}', mimeType: 'text/plain' })
  stockOf(@UriParams('item') item: string) {
    return String(this.stock.get(item) ?? 0);
  }

  @Tool({ description: 'Takes items out, and tells whoever subscribed to their stock' })
  take(@Args('item') item: string, @Args('count') count: number, @Ctx() ctx: McpContext) {
    this.stock.set(item, (this.stock.get(item) ?? 0) - count);
    ctx.sendResourceUpdated(`stock://${item}`);
  }

  @Tool({ description: 'Counts every shelf, with progress' })
  async count(@Args('shelves') shelves: number, @Ctx() ctx: McpContext) {
    for (let shelf = 1; shelf <= shelves; shelf += 1) {
      await ctx.reportProgress(shelf, shelves, `shelf ${shelf}`);
    }
    return `${shelves} shelves counted`;
  }

  @Tool({ description: 'Takes a minute, unless the client cancels it' })
  async audit(@Ctx() ctx: McpContext) {
    ctx.signal.addEventListener('abort', () => this.logger.log('Audit cancelled'));
    await ctx.reportProgress(0);
    await work(60_000, undefined, { signal: ctx.signal });
    return 'all in order';
  }
}

/** A route of the same application, under the same prefix and version. It adds a tool while clients are connected. */
@Controller({ path: 'promotions', version: '1' })
export class PromotionsController {
  constructor(private readonly registry: McpServerRegistry) {}

  @Post()
  async start(@Body('name') name: string) {
    await this.registry.add(
      'tool',
      { name: `claim-${name}`, description: `Claims ${name}` },
      () => `${name}!`,
    );
  }
}
