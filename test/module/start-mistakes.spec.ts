import { Injectable, type Type } from '@nestjs/common';
import { Args, McpBootstrapError, McpModule, Prompt, Tool, Validator } from 'nestjs-mcp';
import { McpAuthModule, RequireScopes } from 'nestjs-mcp/auth';
import { McpClientModule } from 'nestjs-mcp/client';
import { McpExplorerModule } from 'nestjs-mcp/explorer';
import { McpRedisModule } from 'nestjs-mcp/redis';
import { McpTelemetryModule } from 'nestjs-mcp/telemetry';
import { startApp, type TestAppOptions } from '../fixtures/matrix.js';
import { LogSpy } from '../fixtures/log-spy.js';

@Injectable()
class CatalogTools {
  @Tool({ name: 'my tool' })
  search() {}

  @Tool({ server: 'admin' })
  drop() {}

  @Prompt()
  remind(@Args() _pay: unknown) {}

  @Tool()
  @RequireScopes('shop:write')
  write() {}
}

@Injectable()
class Checks {
  @Validator({ events: ['tools/call'], failopen: true } as never)
  check() {
    return true;
  }

  @Validator({ events: [] as never })
  other() {
    return true;
  }
}

@Injectable()
class Elsewhere {}

async function mistakesOf(handlers: Type[], options?: TestAppOptions) {
  const spy = new LogSpy();
  const error: unknown = await startApp(handlers, {
    ...options,
    configure: app => app.useLogger(spy),
  }).catch((thrown: unknown) => thrown);
  return { error: error as McpBootstrapError, logged: spy.errors };
}

describe('an application with several mistakes', () => {
  it('learns all of them from one start, in one numbered block of the log', async () => {
    const module = { imports: [McpModule.forFeature([Elsewhere])] };
    const { error, logged } = await mistakesOf([CatalogTools, Checks], { module });
    const [head, ...lines] = error.message.split('\n');
    expect(error).toBeInstanceOf(McpBootstrapError);
    expect(head).toBe('The application does not start: 7 mistakes');
    expect(lines.map(line => line.split(': ', 1)[0])).toEqual([
      '1. McpModule.forFeature([Elsewhere])',
      '2. CatalogTools.search',
      '3. CatalogTools.drop',
      '4. CatalogTools.remind',
      '5. CatalogTools.write',
      '6. Checks.check',
      '7. Checks.other',
    ]);
    expect(logged).toEqual([expect.stringContaining(error.message)]);
  });

  it('learns those of the options of all modules and of the handlers together', async () => {
    const wrong = { wrong: true } as never;
    const { error, logged } = await mistakesOf([CatalogTools, Checks], {
      mcp: wrong,
      module: {
        imports: [
          McpModule.forRoot({ name: 'admin', version: '1.0.0', http: false }),
          McpModule.forRoot({ name: 'admin', version: '1.0.0', http: false }),
          McpModule.forRootAsync({ useFactory: () => wrong }),
          McpModule.forRootAsync({}),
          McpAuthModule.forRoot(wrong),
          McpAuthModule.forRootAsync({ useFactory: () => wrong }),
          McpClientModule.register([{ name: 'a' }, { name: 'b' }] as never),
          McpExplorerModule.forRoot(wrong),
          McpRedisModule.forRoot(wrong),
          McpTelemetryModule.forRoot(wrong),
        ],
      },
    });
    // The mistakes of one module are indented.
    const lines = error.message.split('\n').filter(line => /^\d/.test(line));
    const places = lines.map(line => line.replace(/^\d+\. /, '').split(': ', 1)[0]);
    expect(places.slice(0, -4).sort()).toEqual([
      'McpAuthModule',
      'McpAuthModule',
      'McpClientModule.register([{ name',
      'McpClientModule.register([{ name',
      'McpExplorerModule',
      'McpModule.forRoot({ name',
      'McpModule.forRoot({ name',
      'McpModule.forRoot({ name',
      'McpModule.forRootAsync()',
      'McpRedisModule',
      'McpTelemetryModule',
    ]);
    // What depends on the options, such as the server of `drop`, is no second mistake.
    expect(places.slice(-4)).toEqual([
      'CatalogTools.search',
      'CatalogTools.remind',
      'Checks.check',
      'Checks.other',
    ]);
    expect(logged).toEqual([expect.stringContaining(error.message)]);
  });

  it('learns the sentence alone if it is the only one', async () => {
    @Injectable()
    class Tools {
      @Tool({ server: 'admin' })
      drop() {}
    }
    const { error, logged } = await mistakesOf([Tools]);
    expect(error.message).toBe('Tools.drop: the MCP server "admin" does not exist; servers are "test"');
    expect(logged).toEqual([expect.stringContaining(error.message)]);
  });
});

it('the stack of a mistake shows no line of this package, for the mistake is in none of them', async () => {
  const { error } = await mistakesOf([CatalogTools]);
  const [, , , , ...frames] = error.stack!.split('\n');
  expect(error.stack).toContain(`McpBootstrapError: ${error.message}\n`);
  expect(frames.length).toBeGreaterThan(0);
  expect(frames.filter(frame => /[\\/]lib[\\/]/.test(frame))).toEqual([]);
});
