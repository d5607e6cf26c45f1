import { Injectable, Module, type INestApplication } from '@nestjs/common';
import { McpModule, Tool } from 'nestjs-mcp';
import { toolSurface } from 'nestjs-mcp/testing';
import { McpToolSearchModule } from 'nestjs-mcp/toolsets';

// #region search
@Module({
  imports: [
    McpModule.forRoot({ name: 'shop', version: '1.0.0' }),
    McpToolSearchModule.forRoot({ alwaysVisible: ['find_order'] }),
  ],
})
export class ShopModule {}
// #endregion search

@Injectable()
export class Tools {
  // #region hints
  @Tool({
    description: 'Cancels an order and pays it back',
    hints: {
      alwaysLoad: true,
      searchHint: 'money back, return',
      maxResultSizeChars: 100_000,
    },
  })
  refundOrder() {
    return 'refunded';
  }
  // #endregion hints
}

export async function cost(app: INestApplication) {
  // #region cost
  const billing = await toolSurface(app, { path: '/mcp/x/billing' });
  expect(billing.tokens).toBeLessThan(5000);
  // #endregion cost
}
