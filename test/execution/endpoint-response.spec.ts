import type { ServerResponse } from 'node:http';
import {
  Catch,
  Injectable,
  RequestTimeoutException,
  type ArgumentsHost,
  type CallHandler,
  type ExceptionFilter,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { throwError, timeout } from 'rxjs';
import { Tool } from 'nestjs-mcp';
import { deferred } from '../fixtures/deferred.js';
import { LogSpy } from '../fixtures/log-spy.js';
import { PLATFORMS, startApp, type TestApp } from '../fixtures/matrix.js';

const released = deferred();

@Injectable()
class Tools {
  @Tool()
  fail() {
    throw new Error('broken');
  }

  @Tool()
  async wait() {
    await released.promise;
    return 'late';
  }
}

/** As Nest's documentation writes one. */
@Catch()
class CatchEverything implements ExceptionFilter {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  catch(_exception: unknown, host: ArgumentsHost): void {
    const { httpAdapter } = this.adapterHost;
    httpAdapter.reply(host.switchToHttp().getResponse(), { statusCode: 500, message: 'Sorry' }, 500);
  }
}

class TimeoutInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler) {
    const tooSlow = () => throwError(() => new RequestTimeoutException('Too slow'));
    return next.handle().pipe(timeout({ each: 100, with: tooSlow }));
  }
}

let test: TestApp;
afterEach(() => test.close());

it.each(PLATFORMS)('a catch-all filter leaves the response of the endpoint alone, on %s', async platform => {
  const log = new LogSpy();
  const seen: number[] = [];
  test = await startApp([Tools], {
    platform,
    configure: app => {
      app.useLogger(log);
      app.useGlobalFilters(new CatchEverything(app.get(HttpAdapterHost)));
      app.use((_request: unknown, response: ServerResponse, next: () => void) => {
        // As access logs do.
        response.once('finish', () => seen.push(response.statusCode));
        next();
      });
    },
  });
  const client = await test.client({ era: 'legacy' });
  log.warnings.length = 0;
  seen.length = 0;
  for (let time = 0; time < 2; time += 1) {
    expect(await client.callTool({ name: 'fail', arguments: {} })).toMatchObject({ isError: true });
  }
  expect(log.warnings).toEqual([]);
  await client.listTools();
  expect(seen.slice(0, 2)).toEqual([200, 200]);
});

it('a timeout interceptor of the application gives the same result in both eras', async () => {
  test = await startApp([Tools], { configure: app => app.useGlobalInterceptors(new TimeoutInterceptor()) });
  const resultOf = async (era: 'modern' | 'legacy') => {
    const client = await test.client({ era });
    const { content, isError } = await client.callTool({ name: 'wait', arguments: {} });
    return { content, isError };
  };
  const results = [await resultOf('modern'), await resultOf('legacy')];
  released.resolve();
  expect(results[0]).toEqual(results[1]);
  expect(results[0]).toMatchObject({ isError: true, content: [{ text: 'Too slow' }] });
});
