// Starts samples with the explorer beside them, in this process.
import 'reflect-metadata';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);
const { NestFactory } = require('@nestjs/core');
const { McpModule, McpServerRegistry } = require('nestjs-mcp');
const { McpExplorerModule } = require('nestjs-mcp/explorer');
const dist = join(import.meta.dirname, '../../../dist/sample');

/** Text that would change the page's title if a browser took it for HTML. */
export const SCRIPT = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;

async function start(module) {
  const app = await NestFactory.create(module, { logger: ['error'] });
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

export async function startLarge() {
  const { LargeModule } = await import('./large.mjs');
  return { ...(await start(LargeModule)), goOn: () => LargeModule.goOn() };
}
