import {
  Injectable,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
  type NestMiddleware,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { NextFunction, Request, Response } from 'express';
import type { Repository } from 'typeorm';
import { Order } from './order.entity.js';

const USERS = new Map([
  ['token-of-ada', 'ada'],
  ['token-of-bob', 'bob'],
]);

export interface UserRequest extends Request {
  user?: string;
}

/** Logs callers in. It is bound to routes, not to the endpoint of MCP. */
@Injectable()
export class LoginMiddleware implements NestMiddleware {
  use(request: UserRequest, _response: Response, next: NextFunction) {
    const token = request.headers.authorization?.replace('Bearer ', '') ?? '';
    request.user = USERS.get(token);
    if (request.user === undefined) throw new UnauthorizedException('Log in first');
    next();
  }
}

/** Lets users see only orders of their own. */
@Injectable()
export class OwnerGuard implements CanActivate {
  constructor(@InjectRepository(Order) private readonly orders: Repository<Order>) {}

  canActivate(context: ExecutionContext) {
    const { params, user } = context.switchToHttp().getRequest<UserRequest>();
    return this.orders.existsBy({ id: Number(params.id), owner: user });
  }
}
