import { Injectable, Module, type OnModuleInit, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Args, deny, McpModule, Tool, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import {
  getMcpClientToken,
  InjectMcpClient,
  McpClientModule,
  McpClients,
  OnElicitation,
  type McpClient,
  type McpClientOptions,
} from 'nestjs-mcp/client';
import { startApp, type TestApp } from '../fixtures/matrix.js';
import { Shop, startClients, textOf } from './fixtures.js';

const NOWHERE = 'http://127.0.0.1:9/mcp';

@Injectable()
class Consumer {
  constructor(@InjectMcpClient('shop') readonly client: McpClient) {}

  async echo(text: string) {
    return textOf(await this.client.callTool({ name: 'echo', arguments: { text } }));
  }
}

@Module({ providers: [Consumer], exports: [Consumer] })
class ConsumerModule {}

const boot = async (
  imports: NonNullable<Parameters<typeof Test.createTestingModule>[0]['imports']>,
  providers: Type[] = [],
) => {
  const testing = await Test.createTestingModule({ imports, providers })
    .setLogger(false as never)
    .compile();
  const app = testing.createNestApplication();
  app.useLogger(false);
  await app.init();
  return app;
};

describe('McpClientModule', () => {
  let server: TestApp;
  let url: string;
  beforeAll(async () => {
    server = await startApp([Shop], { forceCloseConnections: true });
    url = await server.url();
  });
  afterAll(() => server.close());

  it('gives a client to every module, without any McpModule', async () => {
    const app = await boot([ConsumerModule, McpClientModule.register([{ name: 'shop', url }])]);
    expect(await app.get(Consumer, { strict: false }).echo('a')).toBe('echo a');
    await app.close();
  });

  it('can be registered several times', async () => {
    const app = await boot([
      McpClientModule.register([{ name: 'shop', url }]),
      McpClientModule.register([{ name: 'other', url }]),
      ConsumerModule,
    ]);
    expect(app.get(McpClients, { strict: false }).names.sort()).toEqual(['other', 'shop']);
    expect(await app.get(Consumer, { strict: false }).echo('a')).toBe('echo a');
    await app.close();
  });

  it.each([
    ['before', true],
    ['after', false],
  ])('takes options from a factory, imported %s who injects the client', async (_when, isBefore) => {
    @Injectable()
    class Config {
      readonly url = url;
    }
    @Module({ providers: [Config], exports: [Config] })
    class ConfigModule {}
    const clients = McpClientModule.registerAsync({
      imports: [ConfigModule],
      inject: [Config],
      useFactory: async (config: Config) => [
        { name: 'shop', url: config.url },
        { name: 'nobody-injects-it', url: config.url },
      ],
    });
    const app = await boot(isBefore ? [clients, ConsumerModule] : [ConsumerModule, clients]);
    expect(await app.get(Consumer, { strict: false }).echo('a')).toBe('echo a');
    const other = app.get<McpClient>(getMcpClientToken('nobody-injects-it'), { strict: false });
    expect(textOf(await other.callTool({ name: 'echo', arguments: { text: 'b' } }))).toBe('echo b');
    await app.close();
  });

  it('gives the same client whichever registration is asked', async () => {
    const app = await boot([
      McpClientModule.registerAsync({ useFactory: () => [{ name: 'other', url }] }),
      McpClientModule.register([{ name: 'shop', url }]),
      ConsumerModule,
    ]);
    const { client } = app.get(Consumer, { strict: false });
    expect(client).toBe(app.get(McpClients, { strict: false }).get('shop'));
    expect(client).toBe(app.get(getMcpClientToken('shop'), { strict: false }));
    await app.close();
  });

  it('injects into factories and properties', async () => {
    @Injectable()
    class ByProperty {
      @InjectMcpClient('shop') readonly client!: McpClient;
    }
    const app = await Test.createTestingModule({
      imports: [McpClientModule.register([{ name: 'shop', url }])],
      providers: [
        ByProperty,
        {
          provide: 'made',
          inject: [getMcpClientToken('shop')],
          useFactory: (client: McpClient) => client.name,
        },
      ],
    }).compile();
    expect(app.get('made')).toBe('shop');
    expect(app.get(ByProperty).client.name).toBe('shop');
    await app.close();
  });

  it('can be used from onModuleInit on, with its interceptors', async () => {
    let refusal: unknown;
    @Injectable()
    class Early implements OnModuleInit {
      constructor(@InjectMcpClient('shop') private readonly client: McpClient) {}

      @Validator({ events: ['tools/list'] })
      never() {
        return deny('No lists');
      }

      async onModuleInit() {
        refusal = await this.client.listTools().catch((error: unknown) => error);
      }
    }
    const app = await boot([McpClientModule.register([{ name: 'shop', url }])], [Early]);
    expect(refusal).toMatchObject({ code: -32602 });
    await app.close();
  });

  it('carries nothing before its interceptors are known', async () => {
    const making = Test.createTestingModule({
      imports: [McpClientModule.register([{ name: 'shop', url }])],
      providers: [
        {
          provide: 'tools',
          inject: [getMcpClientToken('shop')],
          useFactory: (client: McpClient) => client.listTools(),
        },
      ],
    }).compile();
    await expect(making).rejects.toThrow(
      'The MCP client "shop": it cannot be used while the application is put together, for its interceptors are not known yet; use it from onModuleInit on',
    );
  });

  it('stands beside servers of the same application, and takes the interceptors that are bound to its name', async () => {
    @Injectable()
    class Bound {
      @Tool({ server: 'shop' })
      echo(@Args('text') text: string) {
        return text;
      }

      @Validator({ events: ['tools/call'], server: 'shop' })
      forShop({ direction }: InterceptorInvocation) {
        return direction !== 'send' || deny('bound to the shop');
      }

      @Validator({ events: ['tools/call'], server: 'admin' })
      forAdmin() {
        return deny('bound to admin');
      }
    }
    const app = await boot(
      [
        McpModule.forRoot({ name: 'shop', version: '1' }),
        McpModule.forRoot({ name: 'admin', version: '1', http: { path: '/admin' } }),
        McpClientModule.register([
          { name: 'shop', url },
          { name: 'free', url },
        ]),
      ],
      [Bound],
    );
    const clients = app.get(McpClients, { strict: false });
    const call = { name: 'echo', arguments: { text: 'a' } };
    await expect(clients.get('shop')!.callTool(call)).rejects.toMatchObject({
      data: { validationErrors: [{ message: 'bound to the shop' }] },
    });
    expect(textOf(await clients.get('free')!.callTool(call))).toBe('echo a');
    await app.close();
  });

  describe('lets interceptors be', () => {
    @Injectable()
    class Guardrails {
      @Validator({
        events: ['tools/call'],
        configSchema: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
      })
      noWord({ payload, config }: InterceptorInvocation) {
        return !JSON.stringify(payload).includes((config?.['word'] as string | undefined) ?? 'evil');
      }

      @Validator({ events: ['tools/list'] })
      hangs({ signal }: InterceptorInvocation) {
        return new Promise<boolean>(resolve => signal.addEventListener('abort', () => resolve(true)));
      }
    }
    const start = (interceptors: McpClientOptions['interceptors']) =>
      startClients([{ name: 'shop', url, ...(interceptors && { interceptors }) }], [Guardrails]);
    const call = (text: string) => ({ name: 'echo', arguments: { text } });

    it.each([
      ['active, configured', { config: { noWord: { word: 'bad' } } }, 'bad', false],
      ['active, configured otherwise', { config: { noWord: { word: 'bad' } } }, 'evil', true],
      ['configured by an override', { overrides: { noWord: { config: { word: 'bad' } } } }, 'bad', false],
      ['audited', { overrides: { 'local/noWord': { mode: 'audit', config: { word: 'bad' } } } }, 'bad', true],
      ['off', { apply: false }, 'evil', true],
    ] as const)('%s', async (_how, interceptors, text, passes) => {
      const clients = await start(interceptors);
      const outcome = clients.client().callTool(call(text));
      if (passes) expect(textOf(await outcome)).toBe(`echo ${text}`);
      else await expect(outcome).rejects.toMatchObject({ code: -32602 });
      await clients.close();
    });

    it.each([
      ['the option', { timeoutMs: 30 }, undefined],
      ['the caller', undefined, 30],
    ])('bounded by %s', async (_who, interceptors, timeout) => {
      const clients = await start(interceptors);
      await expect(
        clients.client().listTools(undefined, timeout === undefined ? {} : { timeout }),
      ).rejects.toMatchObject({
        code: -32000,
        data: { interceptor: 'hangs', timeoutMs: 30, phase: 'request' },
      });
      await clients.close();
    });
  });

  @Injectable()
  class NoSuch {
    constructor(@InjectMcpClient('no-such') readonly client: McpClient) {}
  }

  @Injectable()
  class AnswersNobody {
    @OnElicitation('no-such')
    ask() {
      return { action: 'decline' };
    }
  }

  @Injectable()
  class First {
    @OnElicitation('shop')
    ask() {
      return { action: 'decline' };
    }
  }

  @Injectable()
  class Second {
    @OnElicitation('shop')
    answer() {
      return { action: 'decline' };
    }
  }

  const shop = { name: 'shop', url: NOWHERE };
  const sync = (...clients: unknown[]) => [McpClientModule.register(clients as McpClientOptions[])];

  it.each<[mistake: string, imports: ReturnType<typeof sync>, providers: Type[], message: string | RegExp]>([
    [
      'a name that nobody registered',
      sync(shop),
      [NoSuch],
      /Nest can't resolve dependencies of the NoSuch .*nestjs-mcp:client:no-such/s,
    ],
    [
      'a name that a factory did not give',
      [McpClientModule.registerAsync({ useFactory: () => [shop] })],
      [NoSuch],
      'NoSuch: the MCP client "no-such" is not registered; registered clients: "shop"',
    ],
    [
      'a name given twice',
      [...sync(shop), ...sync(shop)],
      [],
      'McpClientModule.register([{ name: "shop" }]): another client has this name; give each client a separate "name"',
    ],
    [
      'a name given by a factory, too',
      [...sync(shop), McpClientModule.registerAsync({ useFactory: () => [shop] })],
      [],
      'another client has this name',
    ],
    [
      'a handler for nobody',
      sync(shop),
      [AnswersNobody],
      'AnswersNobody.ask: the MCP client "no-such" is not registered; registered clients: "shop"',
    ],
    [
      'two handlers for one question',
      sync(shop),
      [First, Second],
      'Second.answer: the client "shop" has First.ask for elicitation/create already; remove one of them',
    ],
    [
      'a promise that nothing keeps',
      sync({ ...shop, capabilities: { sampling: {} } }),
      [],
      'its "capabilities" promise "sampling", but nothing answers sampling/createMessage',
    ],
    ['no list', [McpClientModule.register(shop as never)], [], 'its clients must be a list'],
    [
      'a factory without a list',
      [McpClientModule.registerAsync({ useFactory: () => shop as never })],
      [],
      'its clients must be a list',
    ],
    ['no name', sync({ url: NOWHERE }), [], '"name" must be a non-empty string'],
    ['nothing for a client', sync(null), [], 'a client must be an object with a "name"'],
    ['no way to the server', sync({ name: 'shop' }), [], 'it needs one of "url", "command" and "transport"'],
    [
      'two ways to the server',
      sync({ ...shop, command: 'node' }),
      [],
      'it needs one of "url", "command" and "transport"',
    ],
    ['a URL that is none', sync({ name: 'shop', url: 'example' }), [], '"url" must be an absolute URL'],
    [
      'a URL without HTTP',
      sync({ name: 'shop', url: 'file:///etc/passwd' }),
      [],
      '"url" must be an absolute URL with http or https',
    ],
    [
      'a transport that is made already',
      sync({ name: 'shop', transport: {} }),
      [],
      '"transport" must be a function',
    ],
    [
      'headers for a program',
      sync({ name: 'shop', command: 'node', headers: {} }),
      [],
      '"headers" is only for a server at a "url"',
    ],
    ['arguments for a URL', sync({ ...shop, args: [] }), [], '"args" is only for a "command"'],
    ['an era that is none', sync({ ...shop, era: '2025' }), [], '"era" must be "auto", "modern" or "legacy"'],
    [
      'a time that is none',
      sync({ ...shop, connectTimeoutMs: 0 }),
      [],
      '"connectTimeoutMs" must be a whole number above 0',
    ],
    ['an unknown option', sync({ ...shop, urls: [] }), [], 'unknown option "urls"'],
    [
      'an option of servers',
      sync({ ...shop, interceptors: { expose: true } }),
      [],
      'unknown option "interceptors.expose"',
    ],
    ['an interceptor that is none', sync({ ...shop, interceptors: { config: { typo: {} } } }), [], '"typo"'],
  ])('refuses to start with %s', async (_mistake, imports, providers, message) => {
    await expect(boot(imports, providers)).rejects.toThrow(message);
  });

  it('refuses handlers that could not be called', () => {
    expect(() => {
      class Static {
        @OnElicitation('shop')
        static ask() {
          return { action: 'decline' };
        }
      }
      return Static;
    }).toThrow(
      'Static.ask: a static method cannot answer a server; remove "static" and list Static in providers',
    );
  });
});
