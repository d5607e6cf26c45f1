import { Injectable, Module } from '@nestjs/common';
import { McpModule, Tool } from 'nestjs-mcp';
import { McpAuthModule } from 'nestjs-mcp/auth';

@Injectable()
class Orders {
  @Tool({ description: 'Count the orders' })
  count() {
    return 1;
  }
}

/** A server that only the caller with the token `key` may use. */
@Module({
  imports: [
    McpModule.forRoot({ name: 'orders', version: '1.0.0' }),
    McpAuthModule.forRoot({
      authorizationServers: ['https://login.example.com'],
      verifier: {
        verifyAccessToken: token =>
          token === 'key'
            ? Promise.resolve({ token, clientId: 'test', scopes: [], expiresAt: Date.now() / 1000 + 60 })
            : Promise.reject(new Error('unknown token')),
      },
    }),
  ],
  providers: [Orders],
})
export class ClosedModule {}
