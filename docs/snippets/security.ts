// A server that knows its callers.
import {
  Injectable,
  Module,
  NotFoundException,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Args, Ctx, McpContext, McpModule, Tool } from 'nestjs-mcp';

interface Request {
  readonly headers: { readonly authorization?: string };
  user?: User;
}

interface User {
  readonly id: string;
}

@Injectable()
export class Tokens {
  private readonly users = new Map<string, User>();

  userOf(token: string | undefined) {
    return this.users.get(token ?? '');
  }
}

@Injectable()
export class Orders {
  get(id: string) {
    return id === '1' ? { id, owner: 'ada' } : undefined;
  }
}

// #region guarded
@Injectable()
export class TokenGuard implements CanActivate {
  constructor(private readonly tokens: Tokens) {}

  canActivate(context: ExecutionContext) {
    const request = context.switchToHttp().getRequest<Request>();
    request.user = this.tokens.userOf(request.headers.authorization);
    if (!request.user) throw new UnauthorizedException();
    return true;
  }
}

@Injectable()
export class OrderTools {
  constructor(private readonly orders: Orders) {}

  @Tool({ description: 'Read an order of the caller' })
  order(@Args('id') id: string, @Ctx() ctx: McpContext) {
    // The arguments come from a model: check whose order it is.
    const { user } = ctx.request as Request;
    const order = this.orders.get(id);
    if (order?.owner !== user?.id)
      throw new NotFoundException(`No order ${id}`);
    return order;
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'orders', version: '1.0.0' })],
  providers: [
    Tokens,
    Orders,
    OrderTools,
    { provide: APP_GUARD, useClass: TokenGuard },
  ],
})
export class OrdersModule {}
// #endregion guarded
