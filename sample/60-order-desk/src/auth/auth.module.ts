import { Module } from '@nestjs/common';
import { McpAuthModule } from 'nestjs-mcp/auth';
import { settings } from '../settings.js';
import { verifier } from './verifier.js';

@Module({
  imports: [
    McpAuthModule.forRoot({
      resource: settings.resource,
      authorizationServers: [settings.issuer],
      scopesSupported: ['orders:read', 'orders:write'],
      verifier,
    }),
  ],
})
export class AuthModule {}
