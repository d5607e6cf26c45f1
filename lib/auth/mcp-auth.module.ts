import { Inject, Module, type DynamicModule, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost, type AbstractHttpAdapter } from '@nestjs/core';
import type { Subscription } from 'rxjs';
import { McpCoreModule } from '../module/mcp-core.module.js';
import { McpBootstrapError } from '../exceptions/mcp-bootstrap.error.js';
import type { ServerDraft } from '../module/server-draft.js';
import { MCP_SERVERS, type McpServers } from '../module/mcp-servers.js';
import { canBeServed } from '../transports/http/platform.js';
import type { AsyncOptions } from '../options/async-options.js';
import { resolveAuthOptions, type AuthSettings, type McpAuthOptions } from './auth-options.js';
import { Authorization } from './authorization.js';
import { MetadataGate } from './metadata-gate.js';
import { TokenAuthorizer } from './token-authorizer.js';
import { LOAD } from './token-verifier.js';

const SETTINGS = 'nestjs-mcp:auth-settings';

/**
 * Makes one server or all servers OAuth 2.1 resource servers (2026-07-28: basic/authorization). Every HTTP request needs an
 * access token, except for handlers with `@AllowAnonymous()`. Import it once, or once for each server.
 * @example
 * ```ts
 * const issuer = 'https://login.example.com/';
 *
 * @Module({
 *   imports: [
 *     McpModule.forRoot({ name: 'orders', version: '1.0.0' }),
 *     McpAuthModule.forRoot({
 *       resource: 'https://api.example.com/mcp',
 *       authorizationServers: [issuer],
 *       verifier: jwtVerifier({ issuer, jwksUri: `${issuer}.well-known/jwks.json` }),
 *     }),
 *   ],
 * })
 * export class AppModule {}
 * ```
 */
@Module({})
export class McpAuthModule implements OnModuleDestroy {
  private readonly authorizers = new Set<TokenAuthorizer>();
  private readonly installed: Subscription;

  /** @internal Nest makes it. */
  constructor(
    @Inject(SETTINGS) settings: AuthSettings | undefined,
    @Inject(MCP_SERVERS) servers: McpServers,
    adapterHost: HttpAdapterHost,
  ) {
    // Without settings, they are wrong, and the application does not start.
    if (settings) {
      const { server } = settings;
      servers.extend({
        server,
        where: `McpAuthModule.forRoot({ server: "${server}" })`,
        create: draft => {
          // Over stdio, a caller has the rights of the process, so tokens do not apply.
          if (!draft.options.http) return undefined;
          const authorizer = new TokenAuthorizer(settings, draft);
          const [other] = this.authorizers;
          if (other && settings.resource !== undefined) throw oneResource(other.server, draft);
          this.authorizers.add(authorizer);
          return new Authorization(authorizer);
        },
      });
    }
    const first = () => servers.all().find(({ permissions }) => permissions)?.permissions;
    const gate = new MetadataGate(() => this.authorizers, first);
    this.installed = adapterHost.init$.subscribe(() => {
      const adapter = adapterHost.httpAdapter as AbstractHttpAdapter | undefined;
      if (adapter && canBeServed(adapter)) gate.install(adapter);
    });
  }

  /** @throws McpBootstrapError, while the application starts, for wrong options and missing packages */
  static forRoot(options: McpAuthOptions): DynamicModule {
    return McpAuthModule.forRootAsync({ useFactory: () => options });
  }

  /** Like `forRoot`, with options that a factory makes. */
  static forRootAsync({
    imports = [],
    inject = [],
    useFactory,
  }: AsyncOptions<McpAuthOptions>): DynamicModule {
    const settingsOf = async (...dependencies: never[]) => {
      const settings = resolveAuthOptions(await useFactory(...dependencies));
      await settings.verifier[LOAD]?.();
      return settings;
    };
    return {
      module: McpAuthModule,
      imports: [McpCoreModule, ...imports],
      providers: [
        {
          provide: SETTINGS,
          inject: [MCP_SERVERS, ...inject],
          useFactory: ({ mistakes }: McpServers, ...dependencies: never[]) =>
            settingsOf(...dependencies).catch(mistakes.keep),
        },
      ],
    };
  }

  /** Metadata is served until the end. */
  onModuleDestroy(): void {
    this.installed.unsubscribe();
  }
}

function oneResource(...hosts: readonly Pick<ServerDraft, 'options'>[]): McpBootstrapError {
  const names = hosts.map(({ options }) => `"${options.name}"`).join(' and ');
  return new McpBootstrapError(
    'McpAuthModule',
    `"resource" is the URL of one server, but ${names} are protected; import McpAuthModule for each, with "server"`,
  );
}
