import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpModule } from 'nestjs-mcp';
import type * as Library from './library.js';

/** Compiled as ESM, so that its name differs from the source's. */
const LIBRARY: string = './library.mjs';

async function main() {
  // Both stay `import()` in CommonJS.
  const { McpExplorerModule } = await import('nestjs-mcp/explorer');
  const { LibraryTools } = (await import(LIBRARY)) as typeof Library;
  const imports = [McpModule.forRoot({ name: 'shop', version: '1.0.0' }), McpExplorerModule.forRoot()];

  @Module({ imports, providers: [LibraryTools] })
  class AppModule {}

  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'], abortOnError: false });
  await app.listen(0, '127.0.0.1');
  console.log(await app.getUrl());
}

void main();
