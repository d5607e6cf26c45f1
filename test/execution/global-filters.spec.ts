import {
  BadRequestException,
  Catch,
  ConflictException,
  Controller,
  Get,
  HttpException,
  Injectable,
  UnauthorizedException,
  type ArgumentsHost,
  type ExceptionFilter,
  type Provider,
} from '@nestjs/common';
import { APP_FILTER, BaseExceptionFilter, HttpAdapterHost } from '@nestjs/core';
import { Args, Prompt, Tool } from 'nestjs-mcp';
import { LogSpy } from '../fixtures/log-spy.js';
import { platforms, startApp, textOf, type Platform, type TestApp } from '../fixtures/matrix.js';

interface Reply {
  status(code: number): Reply;
  json?(body: unknown): void;
  send(body: unknown): void;
}

/** As the Nest documentation writes one. */
@Catch(HttpException)
class HttpExceptionFilter implements ExceptionFilter {
  catch(exception: HttpException, host: ArgumentsHost) {
    const http = host.switchToHttp();
    const { url } = http.getRequest<{ url: string }>();
    const reply = http.getResponse<Reply>().status(exception.getStatus());
    const body = { statusCode: exception.getStatus(), path: url };
    if (reply.json) reply.json(body);
    else reply.send(body);
  }
}

/** Nest's catch-all, as the documentation has it: it answers through the adapter. */
@Catch()
class AllExceptionsFilter implements ExceptionFilter {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(_exception: unknown, host: ArgumentsHost) {
    const { httpAdapter } = this.adapterHost;
    httpAdapter.reply(host.switchToHttp().getResponse(), { statusCode: 500 }, 500);
  }
}

@Catch()
class InheritedFilter extends BaseExceptionFilter {
  override catch(exception: unknown, host: ArgumentsHost) {
    super.catch(exception, host);
  }
}

const FILTERS: Record<string, Provider> = {
  'HTTP-style filter': { provide: APP_FILTER, useClass: HttpExceptionFilter },
  'catch-all filter that replies through the adapter': { provide: APP_FILTER, useClass: AllExceptionsFilter },
  'subclass of BaseExceptionFilter': { provide: APP_FILTER, useClass: InheritedFilter },
};

@Injectable()
class Handlers {
  @Tool()
  conflict() {
    throw new ConflictException('The stock is taken');
  }

  @Tool()
  unexpected() {
    throw new Error('password=hunter2');
  }

  @Tool()
  fine(@Args('n') n: number) {
    return `fine ${n}`;
  }

  @Prompt()
  invalid() {
    throw new BadRequestException('Not like that');
  }
}

@Controller('rest')
class Rest {
  @Get()
  conflict() {
    throw new ConflictException('The stock is taken');
  }
}

const start = (platform: Platform, provider: Provider, log: LogSpy): Promise<TestApp> =>
  startApp([Handlers], {
    platform,
    module: { controllers: [Rest], providers: [provider] },
    configure: app => app.useLogger(log),
  });

describe.each(platforms())('on %s', platform => {
  describe.each(Object.entries(FILTERS))('a global %s', (_name, provider) => {
    const log = new LogSpy();
    let test: TestApp;
    let client: Awaited<ReturnType<TestApp['client']>>;

    beforeAll(async () => {
      test = await start(platform, provider, log);
      client = await test.client();
    });
    afterAll(() => test.close());

    it('answers REST as ever', async () => {
      const response = await fetch(await test.url('/rest'));
      expect(response.status).toBeGreaterThanOrEqual(409);
      expect(await response.json()).toMatchObject({ statusCode: response.status });
    });

    it('neither breaks the MCP response nor swallows the error', async () => {
      const result = await client.callTool({ name: 'conflict' });
      expect(result).toMatchObject({ isError: true });
      expect(textOf(result)).toBe('The stock is taken');
      await expect(client.getPrompt({ name: 'invalid' })).rejects.toMatchObject({
        code: -32602,
        message: 'Not like that',
      });
      expect(textOf(await client.callTool({ name: 'fine', arguments: { n: 1 } }))).toBe('fine 1');
    });

    it('leaves invalid arguments what they are', async () => {
      const result = await client.callTool({ name: 'fine', arguments: { n: 'x' } });
      expect(textOf(result)).toMatch(/^Invalid arguments for tool "fine": n: /);
    });

    it('lets nobody see an unexpected error, which is in the log under its reference', async () => {
      log.errors.length = 0;
      const text = textOf(await client.callTool({ name: 'unexpected' }));
      const [, reference] = /^Internal error \(reference ([\da-f-]{36})\)$/.exec(text) ?? [];
      const entry = log.errors.find(error => error.includes(reference));
      expect(entry).toMatch(/^Handlers\.unexpected failed .*password=hunter2/s);
    });

    it('does not keep the endpoint from answering with JSON-RPC', async () => {
      const response = await fetch(await test.url(), { method: 'POST', body: '{}' });
      expect(response.status).toBe(415);
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0', id: null });
    });
  });
});

describe('a global filter that returns a value', () => {
  @Catch(UnauthorizedException)
  class SignInFilter implements ExceptionFilter {
    catch(_exception: unknown, host: ArgumentsHost) {
      if (host.getType<string>() !== 'mcp') throw _exception;
      return { content: [{ type: 'text', text: 'Please sign in' }], isError: true };
    }
  }

  it('answers the call with it', async () => {
    @Injectable()
    class Tools {
      @Tool()
      closed() {
        throw new UnauthorizedException();
      }
    }
    const test = await startApp([Tools], { configure: app => app.useGlobalFilters(new SignInFilter()) });
    const result = await (await test.client()).callTool({ name: 'closed' });
    expect(result).toMatchObject({ isError: true, content: [{ text: 'Please sign in' }] });
    await test.close();
  });
});
