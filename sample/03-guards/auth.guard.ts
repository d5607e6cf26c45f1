import {
  ForbiddenException,
  Injectable,
  SetMetadata,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';

export interface User {
  readonly name: string;
  readonly roles: readonly string[];
}

export type AuthenticatedRequest = Request & { user?: User };

export const Public = () => SetMetadata('public', true);
export const Roles = (...roles: string[]) => SetMetadata('roles', roles);

/** Stands in for the verification of a JWT. */
const USERS = new Map<string, User>([
  ['Bearer token-of-alice', { name: 'Alice', roles: ['admin'] }],
  ['Bearer token-of-bob', { name: 'Bob', roles: [] }],
]);

/** Runs for every REST route, for the MCP endpoint as a route, and for every MCP handler. */
@Injectable()
export class AuthGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const targets = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean>('public', targets)) return true;
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    request.user ??= USERS.get(request.headers.authorization ?? '');
    if (!request.user) throw new UnauthorizedException('Who are you?');

    const roles = this.reflector.getAllAndOverride<string[] | undefined>('roles', targets) ?? [];
    const missing = roles.find(role => !request.user?.roles.includes(role));
    if (missing !== undefined) throw new ForbiddenException(`This takes the role ${missing}`);
    return true;
  }
}
