import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth } from '@nestjs/swagger';
import { RequireScopes } from 'nestjs-mcp/auth';

export const SCOPES = 'order-desk:scopes';

/** The scopes that a caller needs, by REST and by MCP. */
export const Scopes = (...scopes: string[]) =>
  applyDecorators(ApiBearerAuth(), RequireScopes(...scopes), SetMetadata(SCOPES, scopes));
