// A server behind a reverse proxy.
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { McpModule } from 'nestjs-mcp';
import { CatalogTools } from './start/catalog.tools.js';

// #region module
@Controller('health')
export class HealthController {
  @Get(['live', 'ready']) // `nest g -c nestjs-mcp health` checks more
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
          allowedHosts: ['shop.example.com'], // the name that clients call
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
  app.enableShutdownHooks([], { useProcessExit: true });
  const { PORT = 3000, HOST = '127.0.0.1' } = process.env;
  await app.listen(PORT, HOST); // in a container, HOST is 0.0.0.0
}
// #endregion main
