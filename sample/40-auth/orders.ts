import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Args, Ctx, McpContext, McpExecutionContext, Tool, Visible } from 'nestjs-mcp';
import { AllowAnonymous, RequireScopes } from 'nestjs-mcp/auth';

/** Jobs have no subject of their own. */
@Injectable()
export class JobsOnly implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { authInfo } = McpExecutionContext.create(context).getContext();
    return authInfo?.clientId === 'night-job';
  }
}

@Injectable()
export class OrderTools {
  private readonly orders = ['1 umbrella'];

  @AllowAnonymous()
  @Tool({ description: 'When the shop is open' })
  openingHours() {
    return 'from 9 to 5';
  }

  @RequireScopes('orders:read')
  @Tool({ description: 'Lists the orders' })
  listOrders(@Ctx() { authInfo }: McpContext) {
    return `${String(authInfo?.extra?.sub)} sees ${this.orders.join(', ')}`;
  }

  @RequireScopes('orders:write')
  @Tool({ description: 'Places an order' })
  placeOrder(@Args({ name: 'what', description: 'What to order' }) what: string) {
    this.orders.push(what);
    return `Ordered ${what}`;
  }

  @Visible(JobsOnly)
  @RequireScopes('orders:write')
  @Tool({ description: 'Forgets all orders' })
  purge() {
    this.orders.splice(0);
    return 'Purged';
  }
}
