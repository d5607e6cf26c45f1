// An interceptor server over HTTP: other applications ask it whether what they send and receive may pass.
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { deny, McpModule, Mutator, Validator, type InterceptorInvocation } from 'nestjs-mcp';

const EMAIL = /[\w.+-]+@[\w-]+\.\w+/g;

@Injectable()
class Privacy {
  @Validator({
    events: ['tools/call'],
    configSchema: { type: 'object', properties: { maxLength: { type: 'number' } } },
  })
  shortQueries({ payload, config }: InterceptorInvocation<'tools/call', 'request'>) {
    const { maxLength = 30 } = (config ?? {}) as { maxLength?: number };
    const { query = '' } = (payload.arguments ?? {}) as { query?: string };
    return query.length <= maxLength || deny(`At most ${maxLength} characters`, { path: 'arguments.query' });
  }

  @Mutator({ events: ['tools/call'], phase: 'response' })
  maskEmails({ payload }: InterceptorInvocation<'tools/call', 'response'>) {
    return JSON.parse(JSON.stringify(payload).replace(EMAIL, '***')) as typeof payload;
  }
}

@Module({
  imports: [
    McpModule.forRoot({ name: 'privacy', version: '1.0.0', interceptors: { expose: true, apply: false } }),
  ],
  providers: [Privacy],
})
class PrivacyModule {}

async function bootstrap() {
  const app = await NestFactory.create(PrivacyModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3001, '127.0.0.1');
  console.log(`MCP endpoint: ${await app.getUrl()}/mcp`);
}

void bootstrap();
