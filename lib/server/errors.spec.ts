import { Catch, ConflictException, Injectable, UseFilters, type ExceptionFilter } from '@nestjs/common';
import { Args, Prompt, Tool } from 'nestjs-mcp';
import { LogSpy } from '../../test/fixtures/log-spy.js';
import { startApp, textOf, type TestApp } from '../../test/fixtures/matrix.js';

const circular: { self?: unknown; secret: string } = { secret: 'hunter2' };
circular.self = circular;

const THROWN: Record<string, unknown> = {
  'a bigint': 10n,
  'a circular object': circular,
  'an object': { secret: 'hunter2' },
  'a string': 'hunter2',
  'a number': 7,
  'a symbol': Symbol('hunter2'),
  'a function': () => 'hunter2',
  undefined: undefined,
  null: null,
};

@Catch()
class BrokenFilter implements ExceptionFilter {
  catch(): never {
    throw new TypeError('broken filter');
  }
}

@Injectable()
class Tools {
  @Tool()
  fail(@Args('what') what: string) {
    throw THROWN[what];
  }

  @Prompt()
  failing(@Args('what') what: string) {
    throw THROWN[what];
  }

  @Tool()
  @UseFilters(new BrokenFilter())
  filtered() {
    throw new ConflictException('original');
  }

  @Tool()
  chain() {
    throw new Error('outer', { cause: new Error('inner') });
  }
}

describe('what is thrown', () => {
  const log = new LogSpy();
  let test: TestApp;
  let client: Awaited<ReturnType<TestApp['client']>>;

  beforeAll(async () => {
    test = await startApp([Tools], { configure: app => app.useLogger(log) });
    client = await test.client();
  });
  afterAll(() => test.close());
  beforeEach(() => log.errors.splice(0));

  it.each(Object.keys(THROWN))('reaches the client as a safe sentence where it is %s', async what => {
    const result = await client.callTool({ name: 'fail', arguments: { what } });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/^Internal error \(reference [\da-f-]{36}\)$/);
    await expect(client.getPrompt({ name: 'failing', arguments: { what } })).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Internal error \(reference [\da-f-]{36}\)$/),
    });
    expect(log.errors).toHaveLength(2);
  });

  it('is logged in full, with the causes of an error', async () => {
    await client.callTool({ name: 'chain' });
    expect(log.errors).toEqual([expect.stringMatching(/Error: outer\n[^]*Error: inner\n/)]);
  });

  it('is logged together with what a filter failed with', async () => {
    expect(textOf(await client.callTool({ name: 'filtered' }))).toMatch(/^Internal error/);
    expect(log.errors).toEqual([
      expect.stringMatching(/TypeError: broken filter\n[^]*Caused by: ConflictException: original\n/),
    ]);
  });
});
