// A server whose instances live for one request, or for a few.
import type { RequestListener } from 'node:http';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import serverlessExpress from '@codegenie/serverless-express';
import { http } from '@google-cloud/functions-framework';
import { McpModule } from 'nestjs-mcp';
import { CatalogTools } from './start/catalog.tools.js';

// #region module
@Module({
  imports: [
    McpModule.forRootAsync({
      useFactory: () => ({
        name: 'shop',
        version: '1.0.0',
        legacy: 'stateless',
        http: { allowedHosts: ['shop.example.com'] },
        mrtr: { secret: process.env.MCP_SECRET },
      }),
    }),
  ],
  providers: [CatalogTools],
})
export class AppModule {}
// #endregion module

// #region lambda
async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  await app.init();
  return serverlessExpress({ app: app.getHttpAdapter().getInstance() });
}

const started = bootstrap();

export const handler = async (event: unknown, context: unknown) =>
  (await started)(event, context);
// #endregion lambda

export function google() {
  // #region google
  async function bootstrap() {
    const app = await NestFactory.create(AppModule);
    await app.init();
    return app.getHttpAdapter().getInstance() as RequestListener;
  }

  const started = bootstrap();

  http('mcp', async (request, response) => (await started)(request, response));
  // #endregion google
}

export async function vercel() {
  // #region vercel
  const app = await NestFactory.create(AppModule);
  await app.listen(process.env.PORT ?? 3000);
  // #endregion vercel
}
