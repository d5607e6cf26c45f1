import { Inject, Injectable, Module, type DynamicModule } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { McpModule, Prompt, Tool, type McpModuleOptions, type McpOptionsFactory } from 'nestjs-mcp';
import { createTestClient } from 'nestjs-mcp/testing';
import { LogSpy } from '../fixtures/log-spy.js';
import { platforms, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

@Injectable()
class Config {
  readonly name = 'configured';
}

@Module({ providers: [Config, { provide: 'VERSION', useValue: '2.1.0' }], exports: [Config, 'VERSION'] })
class ConfigModule {}

@Injectable()
class OptionsFactory implements McpOptionsFactory {
  constructor(@Inject('VERSION') private readonly version: string) {}

  async createMcpOptions(): Promise<McpModuleOptions> {
    return { name: 'made', version: this.version };
  }
}

@Module({ imports: [ConfigModule], providers: [OptionsFactory], exports: [OptionsFactory] })
class OptionsModule {}

@Injectable()
class Tools {
  constructor(@Inject('GREETING') private readonly greeting: string) {}

  @Tool()
  greet() {
    return this.greeting;
  }
}

@Module({ providers: [{ provide: 'GREETING', useValue: 'hello' }], exports: ['GREETING'] })
class GreetingModule {}

describe('forRootAsync', () => {
  const WAYS: Record<string, [DynamicModule, object]> = {
    'useFactory, with what it injects': [
      McpModule.forRootAsync({
        imports: [ConfigModule],
        inject: [Config, 'VERSION', { token: 'MISSING', optional: true }],
        useFactory: ({ name }: Config, version: string, missing?: string) => ({
          name,
          version,
          title: String(missing),
        }),
      }),
      { name: 'configured', version: '2.1.0', title: 'undefined' },
    ],
    'an asynchronous useFactory': [
      McpModule.forRootAsync({ useFactory: async () => ({ name: 'later', version: '1' }) }),
      { name: 'later', version: '1' },
    ],
    useClass: [
      McpModule.forRootAsync({ imports: [ConfigModule], useClass: OptionsFactory }),
      { name: 'made', version: '2.1.0' },
    ],
    useExisting: [
      McpModule.forRootAsync({ imports: [OptionsModule], useExisting: OptionsFactory }),
      { name: 'made', version: '2.1.0' },
    ],
  };

  it.each(Object.entries(WAYS))('takes options from %s', async (_way, [module, info]) => {
    const testing = await Test.createTestingModule({
      imports: [module, GreetingModule],
      providers: [Tools],
    }).compile();
    const app = testing.createNestApplication();
    const client = await createTestClient(await app.init());
    expect(client.getServerVersion()).toEqual(info);
    expect(textOf(await client.callTool({ name: 'greet' }))).toBe('hello');
    await client.close();
    await app.close();
  });

  it.each([
    [{}, 'McpModule.forRootAsync(): it needs one of "useFactory", "useClass" and "useExisting"'],
    [{ useFactory: () => ({}) as never, import: [] }, 'unknown option "import"; known are imports,'],
    [{ useFactory: () => ({}) as never }, '"name" must be a non-empty string'],
    [{ useFactory: () => undefined as never }, 'options must be an object'],
  ])('stops the start where it gets no options: %#', async (options, sentence) => {
    const imports = [McpModule.forRootAsync(options)];
    const testing = await Test.createTestingModule({ imports }).setLogger(new LogSpy()).compile();
    await expect(testing.init()).rejects.toThrow(sentence);
  });
});

it.each([
  [{ servr: 'shop' }, 'McpModule.forFeature(): unknown option "servr"; known are server'],
  [{ server: 5 }, 'McpModule.forFeature(): "server" must be a non-empty string'],
])('forFeature refuses the options %j', (options, sentence) => {
  expect(() => McpModule.forFeature([], options as never)).toThrow(sentence);
});

describe('forFeature', () => {
  let test: TestApp;
  afterEach(() => test.close());

  const greetings = async () => {
    const client = await test.client();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['greet']);
    return textOf(await client.callTool({ name: 'greet' }));
  };

  it('serves a class that a module provides', async () => {
    @Module({ imports: [GreetingModule, McpModule.forFeature([Tools])], providers: [Tools] })
    class FeatureModule {}
    test = await startApp([], { module: { imports: [FeatureModule] } });
    expect(await greetings()).toBe('hello');
  });

  it('may name a class twice', async () => {
    test = await startApp([], {
      module: {
        imports: [GreetingModule, McpModule.forFeature([Tools]), McpModule.forFeature([Tools])],
        providers: [Tools],
      },
    });
    expect(await greetings()).toBe('hello');
  });
});

describe('forFeature that cannot', () => {
  it('find a class in any module stops the start, and says what to do', async () => {
    const starting = startApp([], { module: { imports: [GreetingModule, McpModule.forFeature([Tools])] } });
    await expect(starting).rejects.toThrow(
      'McpModule.forFeature([Tools]): no module provides Tools; list it in the "providers" of a module',
    );
  });

  it('find a server stops the start', async () => {
    const starting = startApp([], {
      module: {
        imports: [GreetingModule, McpModule.forFeature([Tools], { server: 'nope' })],
        providers: [Tools],
      },
    });
    await expect(starting).rejects.toThrow(
      'Tools.greet: the MCP server "nope" does not exist; servers are "test"',
    );
  });
});

@Injectable()
class Everywhere {
  @Tool()
  ping() {
    return 'default';
  }

  @Tool({ name: 'ping', server: 'admin' })
  adminPing() {
    return 'admin';
  }

  @Prompt({ server: 'ops' })
  page() {
    return 'ops';
  }
}

@Injectable()
class AdminTools {
  @Tool()
  purge() {
    return 'purged';
  }
}

describe.each(platforms())('several servers on %s', platform => {
  let test: TestApp;

  beforeAll(async () => {
    test = await startApp([Everywhere, AdminTools], {
      platform,
      module: {
        imports: [
          McpModule.forRoot({ name: 'admin', version: '2', http: { path: '/admin' } }),
          McpModule.forRoot({ name: 'ops', version: '3', http: { path: '/ops' }, legacy: 'reject' }),
          McpModule.forRoot({ name: 'silent', version: '4', http: false }),
          McpModule.forFeature([AdminTools], { server: 'admin' }),
        ],
      },
    });
  });
  afterAll(() => test.close());

  it('each have a path, an identity and handlers of their own', async () => {
    const first = await test.client();
    const admin = await test.client({ server: 'admin', era: 'legacy' });
    const ops = await test.client({ server: 'ops' });
    expect([first, admin, ops].map(client => client.getServerVersion())).toEqual([
      { name: 'test', version: '1.0.0' },
      { name: 'admin', version: '2' },
      { name: 'ops', version: '3' },
    ]);
    const names = async (client: typeof first) => (await client.listTools()).tools.map(({ name }) => name);
    expect(await names(first)).toEqual(['ping']);
    expect(await names(admin)).toEqual(['ping', 'purge']);
    expect(textOf(await first.callTool({ name: 'ping' }))).toBe('default');
    expect(textOf(await admin.callTool({ name: 'ping' }))).toBe('admin');
    expect((await ops.listPrompts()).prompts).toMatchObject([{ name: 'page' }]);
    expect(ops.getServerCapabilities()?.tools).toBeUndefined();
  });

  it('each have their own options', async () => {
    await expect(test.client({ server: 'ops', era: 'legacy' })).rejects.toThrow();
  });

  it('without HTTP have no route', async () => {
    await expect(test.client({ server: 'silent' })).rejects.toThrow(
      /no MCP server "silent" with an HTTP endpoint/,
    );
    expect((await fetch(await test.url('/silent'))).status).toBe(404);
  });
});
