// One of the processes of a trace: SERVICE is `gateway`, `shop` or `policy`. NEXT is the program of the one behind it, or its
// URL. It speaks stdio, or HTTP if there is a PORT, and then prints its URL.
import 'reflect-metadata';
import { join } from 'node:path';
import { Injectable, Module, type DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { trace } from '@opentelemetry/api';
import { Args, Ctx, McpContext, McpModule, Tool, Validator } from 'nestjs-mcp';
import { McpGatewayModule } from 'nestjs-mcp/gateway';
import { McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { writeSpans } from './span-file.js';

const { SPANS = '', SERVICE = 'shop', NEXT, PORT } = process.env;
const isStdio = PORT === undefined;
const transport = { stdio: isStdio, ...(isStdio && { http: false as const }) };
const own = (name: string) => trace.getTracer('app').startSpan(name).end();

/** The same program, in another role. */
const program = (service: string) => ({
  command: process.execPath,
  args: ['-r', join(__dirname, '../fixtures/ts-hook.cjs'), __filename],
  env: { PATH: process.env['PATH'] ?? '', SPANS, SERVICE: service },
});
const behind = (service: string) => (NEXT === undefined ? program(service) : { url: NEXT });

@Injectable()
class Shop {
  @Tool()
  search(@Args('query') query: string) {
    own('handler');
    return query;
  }

  @Tool()
  broken(): never {
    throw new Error('unexpected');
  }

  @Tool()
  async asks(@Ctx() ctx: McpContext) {
    await ctx.elicit('which', { message: 'Which?', schema: { type: 'object', properties: {} } });
    own('asked');
    return 'asked';
  }
}

@Injectable()
class Policy {
  @Validator({ name: 'checks', events: ['tools/call'] })
  checks() {
    own('policy');
    return true;
  }
}

const MODULES: Readonly<Record<string, () => DynamicModule>> = {
  gateway: () => McpGatewayModule.forRoot({ ...transport, backend: behind('shop') }),
  shop: () =>
    McpModule.forRoot({
      name: 'shop',
      version: '1.0.0',
      ...transport,
      interceptors: { servers: [{ name: 'policy', ...program('policy') }] },
    }),
  policy: () =>
    McpModule.forRoot({
      name: 'policy',
      version: '1.0.0',
      ...transport,
      interceptors: { expose: true, apply: false },
    }),
};
const PROVIDERS = { shop: [Shop], policy: [Policy] };

@Module({
  imports: [MODULES[SERVICE](), McpTelemetryModule.forRoot()],
  providers: PROVIDERS[SERVICE as keyof typeof PROVIDERS] ?? [],
})
class AppModule {}

async function main(): Promise<void> {
  writeSpans(SPANS, SERVICE);
  if (isStdio) return void (await NestFactory.createApplicationContext(AppModule, { logger: false }));
  const app = await NestFactory.create(AppModule, { logger: false });
  await app.listen(Number(PORT), '127.0.0.1');
  process.stdout.write(`${await app.getUrl()}\n`);
}

void main();
