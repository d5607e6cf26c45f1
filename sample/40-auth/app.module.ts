import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { jwtVerifier, McpAuthModule } from 'nestjs-mcp/auth';
import { OrderTools } from './orders.js';

@Module({
  imports: [
    McpModule.forRoot({ name: 'shop', version: '1.0.0' }),
    McpAuthModule.forRootAsync({
      useFactory: () => {
        const { ISSUER = 'http://127.0.0.1:4000', RESOURCE = 'http://127.0.0.1:3000/mcp' } = process.env;
        return {
          resource: RESOURCE,
          authorizationServers: [ISSUER],
          scopesSupported: ['orders:read', 'orders:write'],
          impliedScopes: { 'orders:write': ['orders:read'] },
          verifier: jwtVerifier({ issuer: ISSUER, jwksUri: `${ISSUER}/jwks` }),
        };
      },
    }),
  ],
  providers: [OrderTools],
})
export class AppModule {}
