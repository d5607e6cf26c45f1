import {
  Catch,
  ConflictException,
  ForbiddenException,
  Injectable,
  UseFilters,
  UseGuards,
  UseInterceptors,
  type ExceptionFilter,
  type NestInterceptor,
} from '@nestjs/common';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { EMPTY, NEVER, of, tap, throwError } from 'rxjs';
import { deferred } from '../../test/fixtures/deferred.js';
import { LogSpy } from '../../test/fixtures/log-spy.js';
import { startApp, textOf, type TestApp } from '../../test/fixtures/matrix.js';

@Catch()
class EmptyFilter implements ExceptionFilter {
  catch() {
    return EMPTY;
  }
}

@Catch()
class RethrowingFilter implements ExceptionFilter {
  catch() {
    return throwError(() => new ConflictException('Mapped'));
  }
}

const started = deferred();

const passing: NestInterceptor = { intercept: (_context, next) => next.handle().pipe(tap()) };

@Injectable()
class Tools {
  @Tool()
  unserialisable() {
    return of(1n, 'done');
  }

  @Tool()
  @UseFilters(EmptyFilter)
  unanswered() {
    throw new ConflictException('The stock is taken');
  }

  @Tool()
  @UseGuards({ canActivate: () => throwError(() => new ForbiddenException()) })
  @UseFilters(RethrowingFilter)
  denied() {
    return 'open';
  }

  @Tool()
  @UseInterceptors(passing)
  waits(@Ctx() ctx: McpContext) {
    ctx.signal.addEventListener('abort', () => undefined);
    started.resolve();
    return NEVER;
  }
}

describe('Observables', () => {
  const log = new LogSpy();
  let test: TestApp;
  let client: Awaited<ReturnType<TestApp['client']>>;

  beforeAll(async () => {
    test = await startApp([Tools], { forceCloseConnections: true, configure: app => app.useLogger(log) });
    client = await test.client();
  });
  afterAll(() => test.close());
  beforeEach(() => log.errors.splice(0));

  it('with an emission that is no JSON fail the call, not the process', async () => {
    const onprogress = jest.fn();
    const result = await client.callTool({ name: 'unserialisable' }, { onprogress });
    expect(textOf(result)).toMatch(/^Internal error/);
    expect(log.errors.join()).toMatch(/BigInt/);
  });

  it('without a value, from a filter, leave the error as it was', async () => {
    const result = await client.callTool({ name: 'unanswered' });
    expect(textOf(result)).toBe('The stock is taken');
  });

  it('that a filter fails with, for a guard, are a refusal still', async () => {
    await expect(client.callTool({ name: 'denied' })).rejects.toMatchObject({ message: 'Mapped' });
  });

  it('that are cancelled are no failure to log', async () => {
    const aborter = new AbortController();
    const call = client.callTool({ name: 'waits' }, { signal: aborter.signal });
    await started.promise;
    aborter.abort();
    await expect(call).rejects.toThrow();
    await test.close();
    expect(log.errors).toEqual([]);
  });
});
