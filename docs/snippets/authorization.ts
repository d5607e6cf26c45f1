import {
  Injectable,
  Module,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { JwtModule, JwtService } from '@nestjs/jwt';
import { AuthGuard } from '@nestjs/passport';
import { ClientCredentialsProvider } from '@modelcontextprotocol/client';
import type { AuthInfo } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException, McpExecutionContext } from 'nestjs-mcp';
// #region verifier-imports
import {
  guardVerifier,
  introspectionVerifier,
  type TokenVerifier,
} from 'nestjs-mcp/auth';
// #endregion verifier-imports
// #region client-imports
import { McpClientModule } from 'nestjs-mcp/client';
// #endregion client-imports
// #region gateway-imports
import { McpGatewayModule } from 'nestjs-mcp/gateway';
// #endregion gateway-imports
// #region imports
import { Ctx, McpContext, McpModule, Tool, Visible } from 'nestjs-mcp';
import {
  AllowAnonymous,
  jwtVerifier,
  McpAuthModule,
  RequireScopes,
} from 'nestjs-mcp/auth';
// #endregion imports

// #region staff
@Injectable()
export class StaffOnly implements CanActivate {
  canActivate(context: ExecutionContext) {
    const { authInfo } = McpExecutionContext.create(context).getContext();
    return authInfo?.extra?.group === 'staff';
  }
}
// #endregion staff

// #region handlers
@Injectable()
export class OrderTools {
  @AllowAnonymous()
  @Tool({ description: 'When the shop is open' })
  openingHours() {
    return 'from 9 to 5';
  }

  @RequireScopes('orders:read')
  @Tool({ description: 'Lists the orders' })
  listOrders() {
    return '1 umbrella';
  }

  @RequireScopes('orders:write')
  @Tool({ description: 'Places an order' })
  placeOrder(@Ctx() { authInfo }: McpContext) {
    return `Ordered for ${String(authInfo?.extra?.sub)}`;
  }

  @Visible(StaffOnly)
  @Tool({ description: 'Empties the shop' })
  clear() {
    return 'Empty';
  }
}
// #endregion handlers

// #region module
@Module({
  imports: [
    McpModule.forRoot({
      name: 'shop',
      version: '1.0.0',
      http: { allowedHosts: ['shop.example.com'] },
    }),
    McpAuthModule.forRoot({
      resource: 'https://shop.example.com/mcp', // the URL that users give their clients
      authorizationServers: ['https://login.example.com'],
      scopesSupported: ['orders:read', 'orders:write'], // users can get these by a login
      impliedScopes: { 'orders:write': ['orders:read'] },
      verifier: jwtVerifier({
        issuer: 'https://login.example.com',
        jwksUri: 'https://login.example.com/jwks',
      }),
    }),
  ],
  providers: [OrderTools],
})
export class AppModule {}
// #endregion module

// #region introspection
export const opaque = introspectionVerifier({
  url: 'https://login.example.com/introspect',
  clientId: 'shop',
  clientSecret: process.env.CLIENT_SECRET!,
});
// #endregion introspection

// #region passport
export const passport = guardVerifier(
  new (AuthGuard('jwt'))(),
  (
    { sub, exp, scope }: { sub: string; exp: number; scope?: string },
    token,
  ) => ({
    token,
    clientId: 'shop',
    scopes: scope?.split(' ') ?? [],
    expiresAt: exp,
    extra: { sub },
  }),
);
// #endregion passport

// #region own
@Injectable()
export class ShopTokens implements TokenVerifier {
  constructor(private readonly jwt: JwtService) {}

  async verifyAccessToken(token: string) {
    const audience = 'https://shop.example.com/mcp';
    const { sub, exp } = await this.jwt.verifyAsync<{
      sub: string;
      exp: number;
    }>(token, { audience });
    return {
      token,
      clientId: 'shop',
      scopes: [],
      expiresAt: exp,
      extra: { sub },
    };
  }
}
// #endregion own

// #region own-module
export const auth = McpAuthModule.forRootAsync({
  imports: [JwtModule.register({ secret: process.env.JWT_SECRET })],
  inject: [JwtService],
  useFactory: (jwt: JwtService) => ({
    resource: 'https://shop.example.com/mcp',
    authorizationServers: ['https://login.example.com'],
    verifier: new ShopTokens(jwt),
  }),
});
// #endregion own-module

// #region global-guard
export const Public = Reflector.createDecorator<boolean>();

@Injectable()
export class JwtGuard extends AuthGuard('jwt') {
  constructor(private readonly reflector: Reflector) {
    super();
  }

  override canActivate(context: ExecutionContext) {
    // McpAuthModule checks the callers of handlers.
    if (context.getType<string>() === 'mcp') return true;
    const isPublic = this.reflector.get(Public, context.getClass());
    return isPublic || super.canActivate(context);
  }
}

export const shopServer = McpModule.forRoot({
  name: 'shop',
  version: '1.0.0',
  http: { decorators: [Public(true)] },
});
// #endregion global-guard

// #region providers
export const keycloak = jwtVerifier({
  issuer: 'https://login.example.com/realms/shop',
  jwksUri:
    'https://login.example.com/realms/shop/protocol/openid-connect/certs',
});

export const auth0 = jwtVerifier({
  issuer: 'https://shop.eu.auth0.com/', // with the slash
  jwksUri: 'https://shop.eu.auth0.com/.well-known/jwks.json',
});

const tenant = process.env.TENANT_ID;
export const entra = jwtVerifier({
  issuer: `https://login.microsoftonline.com/${tenant}/v2.0`,
  jwksUri: `https://login.microsoftonline.com/${tenant}/discovery/v2.0/keys`,
  audience: process.env.CLIENT_ID, // of the registration of this server
});
// #endregion providers

// #region client
const shop = new ClientCredentialsProvider({
  clientId: 'shop',
  clientSecret: process.env.CLIENT_SECRET!,
  expectedIssuer: 'https://login.example.com',
});

export const clients = McpClientModule.register([
  { name: 'stock', url: 'https://stock.example.com/mcp', auth: shop },
]);
// #endregion client

// #region gateway
export const gateway = McpGatewayModule.forRoot({
  backends: {
    git: { url: 'https://git.internal/mcp', auth: shop, tokenFor: exchange },
  },
  toolScopes: { 'git_*': ['git:read'], git_push: ['git:write'] },
});
// #endregion gateway

// #region exchange
async function exchange(caller?: AuthInfo): Promise<string> {
  if (!caller) throw new McpException(McpErrorCode.Refused, 'Log in first');
  const response = await fetch('https://login.example.com/token', {
    method: 'POST',
    headers: { authorization: `Basic ${process.env.CREDENTIALS}` },
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: caller.token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      resource: 'https://git.internal/mcp',
    }),
  });
  if (!response.ok)
    throw new Error(`The token endpoint sent ${response.status}`);
  const { access_token: token } = (await response.json()) as {
    access_token: string;
  };
  return token;
}
// #endregion exchange
