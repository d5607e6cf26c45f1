// A server behind a reverse proxy.
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { McpModule } from 'nestjs-mcp';
import { CatalogTools } from './start/catalog.tools.js';

// #region module
@Controller('health')
export class HealthController {
  @Get()
  check() {
    return 'ok';
  }
}

@Module({
  imports: [
    McpModule.forRootAsync({
      useFactory: () => ({
        name: 'shop',
        version: '1.0.0',
        http: {
          allowedHosts: ['shop.example.com'],
          allowedOrigins: ['chat.example.com'],
        },
        mrtr: { secret: process.env.MCP_SECRET },
      }),
    }),
  ],
  controllers: [HealthController],
  providers: [CatalogTools],
})
export class AppModule {}
// #endregion module

// #region main
export async function bootstrap() {
  const app = await NestFactory.create<NestExpressApplication>(AppModule);
  app.set('trust proxy', 'loopback'); // the address of the proxy
  app.enableCors({ origin: 'https://chat.example.com' });
  app.enableShutdownHooks();
  await app.listen(3000, '127.0.0.1');
}
// #endregion main
