import {
  CanActivate,
  createParamDecorator,
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
import { IsInt, IsPositive, IsString } from 'class-validator';
import { Args, McpExecutionContext, Tool } from 'nestjs-mcp';

// #region guard
interface User {
  id: string;
  role: string;
}

interface UserRequest {
  headers: Record<string, string | undefined>;
  user: User;
}

export const Roles = (...roles: string[]) => SetMetadata('roles', roles);

@Injectable()
export class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext) {
    const roles = this.reflector.get<string[]>('roles', context.getHandler());
    const { user } = context.switchToHttp().getRequest<UserRequest>();
    return !roles || roles.includes(user.role);
  }
}

export const CurrentUser = createParamDecorator(
  (_: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<UserRequest>().user,
);
// #endregion guard

// #region dto
export class RefundDto {
  @IsString()
  id!: string;

  @IsInt()
  @IsPositive()
  amount!: number;
}
// #endregion dto

class Orders {
  refund(id: string, amount: number, by: string) {
    return `${by} has refunded ${amount} for ${id}`;
  }
}

export class OrderTools {
  private readonly orders = new Orders();

  // #region tool
  @Tool({ description: 'Refund an order' })
  @UseGuards(RolesGuard)
  @Roles('support')
  refund(@Args() { id, amount }: RefundDto, @CurrentUser() user: User) {
    return this.orders.refund(id, amount, user.id);
  }
  // #endregion tool
}

// #region global
@Injectable()
export class LoginGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    const request = context.switchToHttp().getRequest<UserRequest>();
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
