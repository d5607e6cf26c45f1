import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';

interface User {
  readonly name: string;
  readonly roles: readonly string[];
}

export const Roles = (...roles: string[]) => SetMetadata('roles', roles);

/** Stands in for the verification of a JWT. */
const USERS = new Map<string, User>([
  ['Bearer token-of-alice', { name: 'Alice', roles: ['clerk'] }],
  ['Bearer token-of-bob', { name: 'Bob', roles: [] }],
]);

/** Finds out who calls; everybody may. */
@Injectable()
export class TokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request & { user?: User }>();
    request.user ??= USERS.get(request.headers.authorization ?? '');
    return true;
  }
}

/** Admits callers with all the roles of a tool. */
@Injectable()
export class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const roles = this.reflector.get<string[] | undefined>('roles', context.getHandler()) ?? [];
    const { user } = context.switchToHttp().getRequest<{ user?: User }>();
    return roles.every(role => user?.roles.includes(role));
  }
}
