// A small shop, moved from @rekog/mcp-nest.
import { Injectable, Module } from '@nestjs/common';
import {
  Args,
  Ctx,
  McpContext,
  McpModule,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
  UriParams,
} from 'nestjs-mcp';
import { z } from 'zod';

const PRODUCTS = ['desk lamp', 'floor lamp', 'chair'];
const Search = z.object({ query: z.string(), limit: z.number().default(10) });
const Review = z.object({ product: z.string() });

// #region tools
@Injectable()
export class ShopTools {
  @Tool({ description: 'Search the catalogue', inputSchema: Search })
  async search(
    @Args() { query, limit }: z.infer<typeof Search>,
    @Ctx() context: McpContext,
  ) {
    await context.reportProgress({ progress: 1, total: 2 });
    await context.log('info', { message: 'searched', query });
    return PRODUCTS.filter(name => name.includes(query)).slice(0, limit);
  }

  @Tool({ description: 'The caller' })
  whoami(@Ctx() { headers }: McpContext) {
    return headers['user-agent'];
  }

  @Resource({ uri: 'config://app', mimeType: 'application/json' })
  config() {
    return { debug: false };
  }

  @ResourceTemplate({ name: 'product', uriTemplate: 'product://{id}' })
  product(@UriParams('id') id: string) {
    return PRODUCTS[Number(id)];
  }

  @Prompt({ description: 'Reviews a product', argsSchema: Review })
  review(@Args() { product }: z.infer<typeof Review>) {
    return `Review the ${product}`;
  }
}
// #endregion tools

// #region module
@Module({
  imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })],
  providers: [ShopTools],
})
export class AppModule {}
// #endregion module
