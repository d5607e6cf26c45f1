import { Readable } from 'node:stream';
import {
  ConflictException,
  Injectable,
  NotFoundException,
  StreamableFile,
  UseInterceptors,
  type CallHandler,
} from '@nestjs/common';
import { Prompt, Resource, ResourceTemplate, Tool, UriParams } from 'nestjs-mcp';
import { map } from 'rxjs';
import { deferred } from '../../test/fixtures/deferred.js';
import { LogSpy } from '../../test/fixtures/log-spy.js';
import { startApp, textOf, type TestApp } from '../../test/fixtures/matrix.js';

const STRANGE: Record<string, () => unknown> = {
  Map: () => new Map([['a', 1]]),
  Set: () => new Set(['a']),
  Error: () => new Error('Out of stock'),
  function: () => () => 'later',
  symbol: () => Symbol('secret'),
};

const BYTES = Buffer.from([0, 1, 254, 255]);

const ended = deferred();

@Injectable()
class Handlers {
  kind = 'Map';

  private strange() {
    return STRANGE[this.kind]();
  }

  @Tool()
  tool() {
    return this.strange();
  }

  @Prompt()
  prompt() {
    return this.strange();
  }

  @Resource({ uri: 'strange://it' })
  resource() {
    return this.strange();
  }

  @Tool()
  buffer() {
    return BYTES;
  }

  @Tool()
  file() {
    return new StreamableFile(BYTES);
  }

  @Tool()
  stream() {
    return Readable.from([BYTES], { objectMode: false });
  }

  @Prompt()
  bytes() {
    return BYTES;
  }

  @Resource({ uri: 'bytes://buffer', mimeType: 'image/png' })
  image() {
    return BYTES;
  }

  @Resource({ uri: 'bytes://file' })
  streamable() {
    return new StreamableFile(Readable.from([BYTES.subarray(0, 2), BYTES.subarray(2)]), {
      type: 'image/gif',
    });
  }

  @Resource({ uri: 'bytes://broken' })
  broken() {
    return new StreamableFile(
      new Readable({
        read() {
          this.destroy(new ConflictException('torn'));
        },
      }),
    );
  }

  @Tool()
  async *steps() {
    yield 'one';
    yield Promise.resolve({ progress: 5, total: 10, message: 'five' });
    yield 'done';
  }

  @Tool()
  @UseInterceptors({
    intercept: (_: unknown, next: CallHandler<string>) => next.handle().pipe(map(value => `<${value}>`)),
  })
  async *returning() {
    yield 'one';
    return 'returned';
  }

  @Tool()
  async promised() {
    return this.steps();
  }

  @Tool()
  async *failing() {
    yield 'one';
    throw new NotFoundException('No more');
  }

  @Tool()
  async *endless() {
    try {
      for (;;) {
        yield 'tick';
        await new Promise(resolve => setImmediate(resolve));
      }
    } finally {
      ended.resolve();
    }
  }

  @ResourceTemplate({ uriTemplate: 'parts://{id}' })
  async *parts(@UriParams('id') id: string) {
    yield 'reading';
    yield `part ${id}`;
  }
}

const log = new LogSpy();
let test: TestApp;
beforeAll(async () => (test = await startApp([Handlers], { configure: app => app.useLogger(log) })));
afterAll(() => test.close());
afterEach(() => log.errors.splice(0));

describe('a returned value that JSON would lose is an error that names the handler:', () => {
  const calls = async (): Promise<[string, () => Promise<unknown>][]> => {
    const client = await test.client();
    return [
      [
        'tool',
        async () => expect(textOf(await client.callTool({ name: 'tool' }))).toMatch(/^Internal error/),
      ],
      ['prompt', () => expect(client.getPrompt({ name: 'prompt' })).rejects.toMatchObject({ code: -32603 })],
      [
        'resource',
        () => expect(client.readResource({ uri: 'strange://it' })).rejects.toMatchObject({ code: -32603 }),
      ],
    ];
  };

  it.each(Object.keys(STRANGE))('%s', async kind => {
    test.app.get(Handlers).kind = kind;
    for (const [method, call] of await calls()) {
      await call();
      expect(log.errors.splice(0).join()).toMatch(
        new RegExp(`^Handlers\\.${method} failed .*\\n.*it returned an? ${kind}, .*: (return|throw) `, 'i'),
      );
    }
  });

  it.each([
    ['buffer', 'it returned bytes'],
    ['file', 'it returned a StreamableFile'],
    ['stream', 'it returned a stream of bytes'],
  ])('bytes of a tool: %s', async (name, said) => {
    const result = await (await test.client()).callTool({ name });
    expect(result.isError).toBe(true);
    expect(log.errors.join()).toContain(said);
    expect(log.errors.join()).toMatch(/Handlers\.(buffer|file|stream) failed/);
  });

  it('bytes of a prompt', async () => {
    await expect((await test.client()).getPrompt({ name: 'bytes' })).rejects.toMatchObject({ code: -32603 });
    expect(log.errors.join()).toContain('it returned bytes');
  });
});

describe('bytes of a resource', () => {
  it.each([
    ['a Buffer', 'bytes://buffer', 'image/png'],
    ['a StreamableFile', 'bytes://file', 'image/gif'],
  ])('are those of %s', async (_what, uri, mimeType) => {
    const { contents } = await (await test.client()).readResource({ uri });
    expect(contents).toEqual([{ uri, mimeType, blob: BYTES.toString('base64') }]);
  });

  it('fail as their stream does', async () => {
    const read = (await test.client()).readResource({ uri: 'bytes://broken' });
    await expect(read).rejects.toThrow('torn');
  });
});

describe('an async iterable', () => {
  it.each(['steps', 'promised'])('has its earlier values sent as progress: %s', async name => {
    const told: object[] = [];
    const client = await test.client();
    const result = await client.callTool({ name }, { onprogress: progress => told.push(progress) });
    expect(textOf(result)).toBe('done');
    expect(told).toMatchObject([
      { progress: 1, message: 'one' },
      { progress: 5, total: 10, message: 'five' },
    ]);
  });

  it('has what a generator returns for its last value, and interceptors see each', async () => {
    const told: object[] = [];
    const client = await test.client();
    const result = await client.callTool(
      { name: 'returning' },
      { onprogress: progress => told.push(progress) },
    );
    expect(textOf(result)).toBe('<returned>');
    expect(told).toMatchObject([{ progress: 1, message: '<one>' }]);
  });

  it('fails as its generator does', async () => {
    const result = await (await test.client()).callTool({ name: 'failing' });
    expect(result).toMatchObject({ isError: true, content: [{ text: 'No more' }] });
  });

  it('is ended when its call is cancelled', async () => {
    const cancel = new AbortController();
    const client = await test.client();
    const call = client.callTool(
      { name: 'endless' },
      { signal: cancel.signal, onprogress: () => cancel.abort(new Error('enough')) },
    );
    await expect(call).rejects.toThrow();
    await ended.promise;
  });

  it('is what a resource may return', async () => {
    const { contents } = await (await test.client()).readResource({ uri: 'parts://7' });
    expect(contents).toMatchObject([{ text: 'part 7' }]);
  });
});
