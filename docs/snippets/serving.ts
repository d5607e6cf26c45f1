// Options, transports and handlers at run time.
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Module, UseGuards, type CanActivate } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpModule, Tool } from 'nestjs-mcp';
import { AppModule } from './start/app.module.js';

class KeyGuard implements CanActivate {
  canActivate() {
    return true;
  }
}

class Notes {
  @Tool()
  notes() {
    return 'none';
  }
}

class ShopTools extends Notes {}
class AdminTools extends Notes {}

export const http =
  // #region http
  McpModule.forRoot({
    name: 'shop',
    version: '1.0.0',
    http: {
      path: '/mcp',
      allowedHosts: ['shop.example.com'],
      decorators: [UseGuards(KeyGuard)],
    },
  });
// #endregion http

export const limits =
  // #region limits
  McpModule.forRoot({
    name: 'shop',
    version: '1.0.0',
    sessions: { maxPerCaller: 10 },
    calls: { maxPerCaller: 32, timeoutMs: 30_000 },
  });
// #endregion limits

export function proxy(app: NestExpressApplication) {
  // #region proxy
  app.set('trust proxy', 'loopback'); // Express (NestExpressApplication)
  const adapter = new FastifyAdapter({ trustProxy: 'loopback' }); // Fastify
  // #endregion proxy
  return adapter;
}

export async function stdio() {
  // #region stdio
  @Module({
    imports: [
      McpModule.forRoot({
        name: 'notes',
        version: '1.0.0',
        stdio: true,
        http: false,
      }),
    ],
    providers: [Notes],
  })
  class AppModule {}

  await NestFactory.createApplicationContext(AppModule);
  // #endregion stdio
}

export async function shutdown() {
  // #region shutdown
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks(); // closes the application on SIGTERM
  await app.listen(3000);
  // #endregion shutdown
}

// #region servers
@Module({
  imports: [
    McpModule.forRoot({ name: 'shop', version: '1.0.0' }),
    McpModule.forRoot({
      name: 'admin',
      version: '1.0.0',
      http: { path: '/admin/mcp' },
    }),
    McpModule.forFeature([AdminTools], { server: 'admin' }),
  ],
  providers: [ShopTools, AdminTools],
})
export class ServersModule {}
// #endregion servers
