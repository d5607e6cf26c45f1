import {
  CanActivate,
  ExecutionContext,
  Injectable,
  Logger,
  Module,
  SetMetadata,
  UseGuards,
  type CallHandler,
  type NestInterceptor,
} from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { finalize } from 'rxjs';
import { Args, Ctx, McpContext, McpExecutionContext, Tool } from 'nestjs-mcp';

// #region guard
export const Roles = (...roles: string[]) => SetMetadata('roles', roles);

@Injectable()
export class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext) {
    const roles = this.reflector.get<string[]>('roles', context.getHandler());
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    return !roles || roles.includes(request.user.role);
  }
}
// #endregion guard

interface AuthenticatedRequest {
  headers: Record<string, string | undefined>;
  user: { id: string; role: string };
}

class Orders {
  refund(id: string, by?: string) {
    return `${id} by ${by}`;
  }
}

export class OrderTools {
  private readonly orders = new Orders();

  // #region tool
  @Tool({ description: 'Refund an order' })
  @UseGuards(RolesGuard)
  @Roles('support')
  refund(@Args('id') id: string, @Ctx() ctx: McpContext) {
    return this.orders.refund(id, ctx.authInfo?.clientId);
  }
  // #endregion tool
}

// #region global
@Injectable()
export class LoginGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (request.headers.authorization !== 'Bearer token-of-ada') return false;
    request.user = { id: 'ada', role: 'support' };
    return true;
  }
}

@Module({ providers: [{ provide: APP_GUARD, useClass: LoginGuard }] })
export class LoginModule {}
// #endregion global

// #region interceptor
@Injectable()
export class TimingInterceptor implements NestInterceptor {
  private readonly logger = new Logger('Calls');

  intercept(context: ExecutionContext, next: CallHandler) {
    if (context.getType<string>() !== 'mcp') return next.handle();
    const call = McpExecutionContext.create(context).getContext();
    const started = Date.now();
    return next
      .handle()
      .pipe(
        finalize(() =>
          this.logger.log(`${call.method} took ${Date.now() - started} ms`),
        ),
      );
  }
}
// #endregion interceptor
