import { Module } from '@nestjs/common';
import { McpModule } from 'nestjs-mcp';
import { RateLimit, SecretRedactor, SizeLimit } from 'nestjs-mcp/interceptors';
import { Guardrails } from './guardrails.js';
import { Shop } from './shop.js';

@Module({
  imports: [
    McpModule.forRoot({
      name: 'guarded-shop',
      version: '1.0.0',
      interceptors: { expose: true, overrides: { plainIds: { mode: 'active' } } },
    }),
  ],
  providers: [
    Shop,
    Guardrails,
    SecretRedactor({ events: ['tools/call'], phase: 'response' }),
    SizeLimit({ events: ['tools/call'], maxBytes: 10_000 }),
    RateLimit({ points: 100, duration: 60 }),
  ],
})
export class AppModule {}
