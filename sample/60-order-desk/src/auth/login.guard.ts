import {
  createParamDecorator,
  ForbiddenException,
  Injectable,
  UnauthorizedException,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { settings } from '../settings.js';
import { SCOPES } from './scopes.js';
import { verifier } from './verifier.js';

interface UserRequest extends Request {
  user?: string;
}

/** The subject of the caller's token. */
export const User = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<UserRequest>().user,
);

/** Admits callers of routes whose token has the scopes, by REST and by MCP. For other tools, McpAuthModule does that. */
@Injectable()
export class LoginGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<UserRequest>();
    const [, token] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
    if (token === undefined) throw new UnauthorizedException('Log in first');
    const { clientId, scopes, extra } = await this.verify(token, request, context);
    const targets = [context.getHandler(), context.getClass()];
    const needed = this.reflector.getAllAndOverride<string[] | undefined>(SCOPES, targets) ?? [];
    const missing = needed.filter(scope => !scopes.includes(scope));
    if (missing.length > 0) throw new ForbiddenException(`The token needs ${missing.join(', ')}`);
    request.user = String(extra?.sub ?? clientId);
    return true;
  }

  private async verify(token: string, request: Request, context: ExecutionContext) {
    const { resource } = settings;
    const response = context.switchToHttp().getResponse<object>();
    try {
      return await verifier.verifyAccessToken(token, { resource, resources: [resource], request, response });
    } catch {
      throw new UnauthorizedException('The token is not valid');
    }
  }
}
