import {
  ConflictException,
  Injectable,
  RequestTimeoutException,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Args, McpExecutionContext, Prompt, Resource, Tool } from 'nestjs-mcp';
import { catchError, map, NEVER, of, race, tap, throwError, type Observable } from 'rxjs';
import { anyPlatform, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

type Around = (result: Observable<unknown>, context: ExecutionContext) => Observable<unknown>;

const around = (operate: Around): NestInterceptor => ({
  intercept: (context: ExecutionContext, next: CallHandler) => operate(next.handle(), context),
});

const wrapping = around(result => result.pipe(map(value => ({ data: value }))));
const catching = around(result =>
  result.pipe(catchError((error: Error) => of(`Instead of: ${error.message}`))),
);
const timing = around(result =>
  race(
    result,
    throwError(() => new RequestTimeoutException('Too slow')),
  ),
);

@Injectable()
class CacheInterceptor implements NestInterceptor {
  private readonly known = new Map<string, unknown>();

  intercept(context: ExecutionContext, next: CallHandler) {
    const key = JSON.stringify(McpExecutionContext.create(context).getArguments());
    if (this.known.has(key)) return of(this.known.get(key));
    return next.handle().pipe(tap(value => this.known.set(key, value)));
  }
}

const calls: string[] = [];

@Injectable()
class Tools {
  @Tool({ outputSchema: { type: 'object', properties: { data: { type: 'string' } }, required: ['data'] } })
  @UseInterceptors(wrapping)
  mapped() {
    return 'value';
  }

  @Tool()
  @UseInterceptors(catching)
  caught() {
    throw new ConflictException('taken');
  }

  @Tool()
  @UseInterceptors(catching)
  caughtArguments(@Args('n') n: number) {
    return n;
  }

  @Tool()
  @UseInterceptors(timing)
  slow() {
    return NEVER;
  }

  @Tool()
  @UseInterceptors(CacheInterceptor)
  cached(@Args('of') of: string) {
    calls.push(of);
    return `value of ${of}`;
  }

  @Tool()
  @UseInterceptors(around(() => of('without the handler')))
  replaced() {
    calls.push('replaced');
  }

  @Prompt()
  @UseInterceptors(around(result => result.pipe(map(text => `${String(text)}!`))))
  shout() {
    return 'Hello';
  }

  @Resource({ uri: 'config://app' })
  @UseInterceptors(wrapping)
  config() {
    return { debug: true };
  }
}

describe.each(anyPlatform())('an interceptor on %s', platform => {
  let test: TestApp;
  let client: Awaited<ReturnType<TestApp['client']>>;

  beforeAll(async () => {
    test = await startApp([Tools], { platform });
    client = await test.client();
  });
  afterAll(() => test.close());
  beforeEach(() => calls.splice(0));

  it('maps a result, before the output schema is checked', async () => {
    const { structuredContent } = await client.callTool({ name: 'mapped' });
    expect(structuredContent).toEqual({ data: 'value' });
  });

  it('catches what the handler throws', async () => {
    const result = await client.callTool({ name: 'caught' });
    expect(result.isError).toBeUndefined();
    expect(textOf(result)).toBe('Instead of: taken');
  });

  it('catches that arguments are not valid', async () => {
    const result = await client.callTool({ name: 'caughtArguments', arguments: { n: 'one' } });
    expect(textOf(result)).toMatch(/^Instead of: Invalid arguments for tool "caughtArguments": n: /);
  });

  it('times a handler out', async () => {
    const result = await client.callTool({ name: 'slow' });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe('Too slow');
  });

  it('answers from a cache, and the handler does not run', async () => {
    const call = async (of: string) => textOf(await client.callTool({ name: 'cached', arguments: { of } }));
    expect([await call('a'), await call('a'), await call('b')]).toEqual([
      'value of a',
      'value of a',
      'value of b',
    ]);
    expect(calls).toEqual(['a', 'b']);
  });

  it('answers in the handler’s place', async () => {
    expect(textOf(await client.callTool({ name: 'replaced' }))).toBe('without the handler');
    expect(calls).toEqual([]);
  });

  it('maps the results of prompts and resources', async () => {
    const { messages } = await client.getPrompt({ name: 'shout' });
    expect(messages[0].content).toEqual({ type: 'text', text: 'Hello!' });
    const { contents } = await client.readResource({ uri: 'config://app' });
    expect(contents[0]).toMatchObject({ text: '{"data":{"debug":true}}' });
  });
});

describe('a global interceptor that was written for REST', () => {
  it('wraps what handlers return, and leaves the protocol’s own messages alone', async () => {
    const test = await startApp([Tools], { configure: app => app.useGlobalInterceptors(wrapping) });
    const client = await test.client({ era: 'legacy' });
    expect((await client.listTools()).tools).toHaveLength(6);
    expect(textOf(await client.callTool({ name: 'replaced' }))).toBe('{"data":"without the handler"}');
    await test.close();
  });
});
