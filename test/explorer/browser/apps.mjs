// Starts samples with the explorer beside them, in this process.
import 'reflect-metadata';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const { SetMetadata } = require('@nestjs/common');
const { APP_GUARD, NestFactory } = require('@nestjs/core');
const { FastifyAdapter } = require('@nestjs/platform-fastify');
const { McpModule, McpServerRegistry } = require('nestjs-mcp');
const { McpExplorerModule } = require('nestjs-mcp/explorer');
const { McpGatewayModule } = require('nestjs-mcp/gateway');
const dist = join(import.meta.dirname, '../../../dist/sample');

/** Text that would change the page's title if a browser took it for HTML. */
export const SCRIPT = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;

/** Levels of the deepest result. */
const DEPTH = 4000;

async function start(module, adapter) {
  const app = await NestFactory.create(module, ...(adapter ? [adapter] : []), { logger: ['error'] });
  await app.listen(0, '127.0.0.1');
  const origin = await app.getUrl();
  return { origin, page: `${origin}/mcp-explorer`, close: () => app.close() };
}

/** A sample; `51-explorer` imports the explorer itself. */
export function startSample(name) {
  const { AppModule } = require(join(dist, name, 'app.module.js'));
  if (name === '51-explorer') return start(AppModule);
  return start({ module: class {}, imports: [AppModule, McpExplorerModule.forRoot()] });
}

/** A server whose every text is a script. */
export async function startHostile() {
  class Hostile {
    constructor(registry) {
      this.registry = registry;
    }

    async onModuleInit() {
      const shown = { title: SCRIPT, description: SCRIPT };
      const inputSchema = {
        type: 'object',
        properties: { [SCRIPT]: { type: 'string', title: SCRIPT, description: SCRIPT, default: SCRIPT } },
      };
      await this.registry.add('tool', { name: 'speak', inputSchema, ...shown }, args => ({
        content: [{ type: 'text', text: `${SCRIPT} ${JSON.stringify(args)}` }],
      }));
      await this.registry.add('tool', { name: 'fail', ...shown }, () => ({
        content: [{ type: 'text', text: SCRIPT }],
        isError: true,
      }));
      const deep = JSON.parse(`${'{"in":'.repeat(DEPTH)}"the end"${'}'.repeat(DEPTH)}`);
      await this.registry.add('tool', { name: 'dig', ...shown }, () => ({
        content: [],
        structuredContent: deep,
      }));
      await this.registry.add(
        'resource',
        { uri: `hostile://x/${encodeURI(SCRIPT)}`, name: SCRIPT, ...shown },
        () => SCRIPT,
      );
    }
  }
  return start({
    module: class {},
    imports: [
      McpModule.forRoot({ name: 'hostile', version: SCRIPT, title: SCRIPT }),
      McpExplorerModule.forRoot(),
    ],
    providers: [
      { provide: Hostile, inject: [McpServerRegistry], useFactory: registry => new Hostile(registry) },
    ],
  });
}

/** A server on Fastify whose global guard admits nobody without a token, except to the page. */
export function startFastify() {
  const Public = () => SetMetadata('isPublic', true);
  class LoginGuard {
    canActivate(context) {
      const { headers } = context.switchToHttp().getRequest();
      return (
        Reflect.getMetadata('isPublic', context.getClass()) === true || headers.authorization !== undefined
      );
    }
  }
  class Notes {
    async onModuleInit() {
      const properties = { text: { type: 'string' } };
      const inputSchema = { type: 'object', properties, required: ['text'] };
      const annotations = { readOnlyHint: true };
      await this.registry.add('tool', { name: 'echo', inputSchema, annotations }, args =>
        JSON.stringify(args),
      );
    }
  }
  const useFactory = registry => Object.assign(new Notes(), { registry });
  const module = {
    module: class {},
    imports: [
      McpModule.forRoot({ name: 'notes', version: '1.0.0' }),
      McpExplorerModule.forRoot({ decorators: [Public()] }),
    ],
    providers: [
      { provide: APP_GUARD, useClass: LoginGuard },
      { provide: Notes, inject: [McpServerRegistry], useFactory },
    ],
  };
  return start(module, new FastifyAdapter());
}

/** A gateway that exchanges the token of each caller. `asked` counts the exchanges. */
export async function startExchange() {
  let asked = 0;
  const tokenFor = () => {
    asked += 1;
    return 'token';
  };
  const module = {
    module: class {},
    imports: [
      McpGatewayModule.forRoot({ backend: { url: 'http://127.0.0.1:9/mcp', tokenFor } }),
      McpExplorerModule.forRoot(),
    ],
  };
  return { ...(await start(module)), asked: () => asked };
}

export async function startLarge() {
  const { LargeModule } = await import('./large.mjs');
  return { ...(await start(LargeModule)), goOn: () => LargeModule.goOn() };
}
