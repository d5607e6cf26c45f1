import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { McpModule } from 'nestjs-mcp';
import { McpExplorerModule } from 'nestjs-mcp/explorer';
import { SecretRedactor } from 'nestjs-mcp/interceptors';
import { Guardrails } from './guardrails.js';
import { RolesGuard, TokenGuard } from './guards.js';
import { Shop } from './shop.js';

@Module({
  imports: [
    McpModule.forRoot({
      name: 'shop',
      version: '1.0.0',
      title: 'Guarded shop',
      interceptors: { overrides: { shortQueries: { mode: 'audit' } } },
    }),
    McpExplorerModule.forRoot(),
  ],
  providers: [
    Shop,
    Guardrails,
    RolesGuard,
    SecretRedactor({ events: ['tools/call'], phase: 'response' }),
    { provide: APP_GUARD, useClass: TokenGuard },
  ],
})
export class AppModule {}
