import { UseGuards } from '@nestjs/common';
import { Ctx, ExtensionMethod, McpContext, McpExtension } from 'nestjs-mcp';
import { z } from 'zod';
import { Products } from './products.js';
import { StaffGuard } from './staff.guard.js';

const Query = z.object({ query: z.string().min(1), limit: z.int().min(1).max(50).default(10) });

/** Methods that the protocol does not have. Clients find them by the id in the capabilities. */
@McpExtension({ id: 'com.example/search', settings: { maxResults: 50 } })
export class SearchExtension {
  constructor(private readonly products: Products) {}

  @ExtensionMethod('example/search', { params: Query, result: z.object({ hits: z.array(z.string()) }) })
  search({ query, limit }: z.infer<typeof Query>) {
    return { hits: this.products.find(query).slice(0, limit) };
  }

  /** Asks the user first, as a tool can. */
  @ExtensionMethod('example/reindex', { requireClient: true })
  @UseGuards(StaffGuard)
  async reindex(@Ctx() ctx: McpContext) {
    const schema = { type: 'object', properties: { sure: { type: 'boolean' } } } as const;
    const { content } = await ctx.elicit('sure', { message: 'Rebuild the index?', schema });
    return { rebuilt: content?.['sure'] === true };
  }
}
