// An interceptor server over stdio: the application that asks it starts it by itself.
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { McpModule, Mutator, type InterceptorInvocation } from 'nestjs-mcp';

@Injectable()
class Style {
  /** Before all others, wherever they run. */
  @Mutator({ events: ['tools/call'], priority: -1000 })
  trim({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    const { query } = (payload.arguments ?? {}) as { query?: string };
    return query === undefined
      ? undefined
      : { ...payload, arguments: { ...payload.arguments, query: query.trim().toLowerCase() } };
  }
}

@Module({
  imports: [
    McpModule.forRoot({
      name: 'style',
      version: '1.0.0',
      stdio: true,
      http: false,
      interceptors: { expose: true, apply: false },
    }),
  ],
  providers: [Style],
})
class StyleModule {}

void NestFactory.createApplicationContext(StyleModule, { logger: ['error', 'warn'] });
