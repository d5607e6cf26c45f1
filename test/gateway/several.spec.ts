import { Injectable } from '@nestjs/common';
import { Prompt, Resource, ResourceTemplate, Tool, UriParams } from 'nestjs-mcp';
import type { Row } from '../../lib/protocol/methods.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { textOf } from '../fixtures/matrix.js';
import { backendModule } from './backend-app.js';
import { fakeBackend } from './fake-backend.js';
import { connect, ERAS, listen, outcomeOf, startGateway, type Running } from './support.js';

@Injectable()
class Shop {
  @Tool()
  search() {
    return 'of the shop';
  }

  @Prompt()
  sell() {
    return 'Sell it';
  }

  @Resource({ uri: 'shop://all' })
  all() {
    return 'the shop';
  }

  @ResourceTemplate({ uriTemplate: 'shop://{id}' })
  one(@UriParams() { id }: { id: string }) {
    return `shop ${id}`;
  }
}

@Injectable()
class Bank {
  @Tool()
  search() {
    return 'of the bank';
  }

  @Resource({ uri: 'bank://all' })
  all() {
    return 'the bank';
  }
}

@Injectable()
class Copy {
  @Resource({ uri: 'shop://all' })
  all() {
    return 'a copy';
  }
}

const FORM = { type: 'object', properties: { a: { type: 'string' } } };

const backendOf = (provider: new () => object) => listen(backendModule(provider.name, false, {}, [provider]));

describe('a gateway in front of several backends', () => {
  let shop: Running;
  let bank: Running;
  let copy: Running;
  beforeAll(async () => {
    [shop, bank, copy] = await Promise.all([backendOf(Shop), backendOf(Bank), backendOf(Copy)]);
  });
  afterAll(() => Promise.all([shop, bank, copy].map(({ app }) => app.close())));

  it.each(ERAS)(
    'puts a prefix before names, and finds resources by their URIs, for a %s client',
    async era => {
      const gateway = await startGateway({ backends: { shop: { url: shop.url }, bank: { url: bank.url } } });
      const client = await connect(gateway.url, era);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual(['shop_search', 'bank_search']);
      expect(textOf(await client.callTool({ name: 'shop_search' }))).toBe('of the shop');
      expect(textOf(await client.callTool({ name: 'bank_search' }))).toBe('of the bank');
      expect(await outcomeOf(client.callTool({ name: 'search' }))).toMatchObject({
        message: 'Unknown tool: search',
      });
      expect((await client.listPrompts()).prompts).toMatchObject([{ name: 'shop_sell' }]);
      expect(await client.getPrompt({ name: 'shop_sell' })).toHaveProperty(
        'messages.0.content.text',
        'Sell it',
      );
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toEqual(['shop://all', 'bank://all']);
      expect((await client.readResource({ uri: 'bank://all' })).contents).toMatchObject([
        { text: 'the bank' },
      ]);
      expect((await client.readResource({ uri: 'shop://7' })).contents).toMatchObject([{ text: 'shop 7' }]);
      expect(await outcomeOf(client.readResource({ uri: 'other://a' }))).toMatchObject({ code: -32602 });
      expect(client.getInstructions()).toBe('shop: This is Shop.\n\nbank: This is Bank.');
      await client.close();
      await gateway.app.close();
    },
  );

  it.each(ERAS)(
    'leaves a resource of two of them to the first, and warns once, for a %s client',
    async era => {
      const gateway = await startGateway({
        backends: { shop: { url: shop.url }, copy: { url: copy.url }, bank: { url: bank.url } },
      });
      const log = new LogSpy();
      gateway.app.useLogger(log);
      const client = await connect(gateway.url, era);
      const firstPage = { cursor: Buffer.from('[0,null]').toString('base64url') };
      const secondOn = { cursor: Buffer.from('[1,null]').toString('base64url') };
      const urisOn = async (params: Record<string, unknown>) => {
        const { resources } = (await client.request({ method: 'resources/list', params })) as {
          resources: Row[];
        };
        return resources.map(({ uri }) => uri);
      };
      expect(await urisOn({})).toEqual(['shop://all', 'bank://all']);
      expect(await urisOn(firstPage)).toEqual(['shop://all', 'bank://all']);
      expect(await urisOn(secondOn)).toEqual(['bank://all']);
      for (let times = 0; times < 2; times++) {
        expect((await client.readResource({ uri: 'shop://all' })).contents).toMatchObject([
          { text: 'the shop' },
        ]);
      }
      expect(log.warnings).toEqual([
        expect.stringMatching(
          /"copy" has the resource shop:\/\/all of the backend "shop", which keeps it[^]*McpGateway\(gateway\)/,
        ),
      ]);
      await client.close();
      await gateway.app.close();
    },
  );

  it('has the one that lists a resource answer for it, whatever templates of others it is of', async () => {
    const any = await fakeBackend(
      {
        'resources/list': ({ reply }) => reply({ resources: [] }),
        'resources/templates/list': ({ reply }) =>
          reply({ resourceTemplates: [{ name: 'any', uriTemplate: 'bank://{name}' }] }),
        'resources/read': ({ params, reply }) => reply({ contents: [{ uri: params['uri'], text: 'any' }] }),
      },
      'modern',
      { resources: {} },
    );
    const gateway = await startGateway({ backends: { any: { url: any.url }, bank: { url: bank.url } } });
    const client = await connect(gateway.url, 'modern');
    const read = async (uri: string) => (await client.readResource({ uri })).contents;
    expect(await read('bank://all')).toMatchObject([{ text: 'the bank' }]);
    expect(await read('bank://other')).toMatchObject([{ text: 'any' }]);
    await client.close();
    await gateway.app.close();
    any.close();
  });

  it.each(ERAS)('goes on with the others where a %s one went down later', async era => {
    const late = await backendOf(Bank);
    const gateway = await startGateway({
      backends: { shop: { url: shop.url, era }, bank: { url: late.url, era } },
    });
    const client = await connect(gateway.url, 'modern');
    expect((await client.listTools()).tools).toHaveLength(2);
    await late.app.close();
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['shop_search']);
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual(['shop://all']);
    expect((await client.readResource({ uri: 'shop://7' })).contents).toMatchObject([{ text: 'shop 7' }]);
    await client.close();
    await gateway.app.close();
  });

  it('goes on with the others where the list of one never comes', async () => {
    const silent = await fakeBackend({ 'tools/list': () => {} });
    const gateway = await startGateway({
      backends: { shop: { url: shop.url }, silent: { url: silent.url } },
      limits: { listTimeoutMs: 200 },
    });
    const client = await connect(gateway.url, 'modern');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['shop_search']);
    await client.close();
    await gateway.app.close();
    silent.close();
  });

  it('does not count the time in which the user answers as time for lists', async () => {
    const uri = 'form://a';
    const ask = { method: 'elicitation/create', params: { message: 'a?', requestedSchema: FORM } };
    const form = await fakeBackend(
      {
        'resources/list': ({ reply }) => reply({ resources: [{ uri, name: 'a' }] }),
        'resources/templates/list': ({ reply }) => reply({ resourceTemplates: [] }),
        'resources/read': ({ params, reply }) =>
          params['inputResponses']
            ? reply({ contents: [{ uri, text: 'read' }] })
            : reply({ resultType: 'input_required', inputRequests: { a: ask }, requestState: 'asked' }),
      },
      'modern',
      { resources: {} },
    );
    const gateway = await startGateway({ backends: { shop: { url: shop.url }, form: { url: form.url } } });
    const now = jest.spyOn(Date, 'now');
    const client = await connect(gateway.url, 'legacy', {
      capabilities: { elicitation: { form: {} } },
      prepare: one =>
        one.setRequestHandler('elicitation/create', () => {
          const later = performance.timeOrigin + performance.now() + 61_000;
          now.mockImplementation(() => later);
          return { action: 'accept', content: { a: 'b' } };
        }),
    });
    expect((await client.readResource({ uri })).contents).toMatchObject([{ text: 'read' }]);
    now.mockRestore();
    await client.close();
    await gateway.app.close();
    form.close();
  });

  it('writes a URI of two backends in one line', async () => {
    const uri = 'a://b\nforged';
    const backends = await Promise.all(
      [1, 2].map(() =>
        fakeBackend(
          { 'resources/list': ({ reply }) => reply({ resources: [{ uri, name: 'a' }] }) },
          'modern',
          { resources: {} },
        ),
      ),
    );
    const [one, two] = backends.map(({ url }) => ({ url }));
    const gateway = await startGateway({ backends: { one, two } });
    const log = new LogSpy();
    gateway.app.useLogger(log);
    const client = await connect(gateway.url, 'modern');
    await client.listResources();
    expect(log.warnings).toEqual([expect.stringContaining('a://b\\nforged')]);
    await client.close();
    await gateway.app.close();
    for (const backend of backends) backend.close();
  });

  it('does not call a resource missing if a list is late', async () => {
    const silent = await fakeBackend({ 'resources/list': () => {} }, 'modern', { resources: {} });
    const gateway = await startGateway({
      backends: { shop: { url: shop.url }, silent: { url: silent.url } },
      limits: { listTimeoutMs: 200 },
    });
    const client = await connect(gateway.url, 'modern');
    expect(await outcomeOf(client.readResource({ uri: 'other://a' }))).toMatchObject({
      code: -32603,
      message: 'The server behind this gateway did not answer in time',
    });
    expect((await client.readResource({ uri: 'shop://all' })).contents).toMatchObject([{ text: 'the shop' }]);
    await client.close();
    await gateway.app.close();
    silent.close();
  });

  it('goes on with the others where one is down', async () => {
    const gateway = await startGateway({
      backends: { down: { url: 'http://127.0.0.1:1/mcp' }, shop: { url: shop.url } },
    });
    const client = await connect(gateway.url, 'modern');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['shop_search']);
    expect(textOf(await client.callTool({ name: 'shop_search' }))).toBe('of the shop');
    expect(await outcomeOf(client.callTool({ name: 'down_search' }))).toMatchObject({
      code: -32603,
      message: 'The server behind this gateway cannot be reached; try again later',
    });
    await client.close();
    await gateway.app.close();
  });
});

describe('options of a gateway', () => {
  const backend = { url: 'http://127.0.0.1:1/mcp' };
  it.each([
    [undefined, 'options must be an object'],
    [{}, 'give either "backend" or "backends"'],
    [{ backend, backends: { a: backend } }, 'give either "backend" or "backends"'],
    [{ backends: {} }, '"backends" must name at least one'],
    [{ backends: { a: backend, a_b: backend } }, 'the prefixes "a" and "a_b" collide'],
    [{ backends: { 'a b': backend } }, 'the prefix "a b" must be'],
    [{ backends: { a: backend }, passthrough: true }, '"passthrough" is for one "backend"'],
    [{ backend, pages: 1 }, 'unknown option "pages"'],
    [{ backend, timeoutMs: 0 }, '"timeoutMs" must be a whole number above 0'],
    [{ backend, limits: { max: 1 } }, 'unknown option "limits.max"'],
  ])('%j is refused', async (options, problem) => {
    await expect((async () => startGateway(options as never))()).rejects.toThrow(problem);
  });

  it('handlers are refused', async () => {
    await expect(startGateway({ backend }, [Shop])).rejects.toThrow(/the server "gateway" is a gateway/);
  });
});
