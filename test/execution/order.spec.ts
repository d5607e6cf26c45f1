import {
  BadRequestException,
  Catch,
  ConflictException,
  ForbiddenException,
  Injectable,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  type Type,
} from '@nestjs/common';
import { Args, Tool } from 'nestjs-mcp';
import { catchError, throwError } from 'rxjs';
import { z } from 'zod';
import { APP, makeEnhancer, Trace } from '../fixtures/enhancers.js';
import { anyPlatform, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

const GlobalGuard = makeEnhancer('guard', 'global guard');
const ClassGuard = makeEnhancer('guard', 'class guard');
const MethodGuard = makeEnhancer('guard', 'method guard');
const GlobalInterceptor = makeEnhancer('interceptor', 'global interceptor');
const ClassInterceptor = makeEnhancer('interceptor', 'class interceptor');
const MethodInterceptor = makeEnhancer('interceptor', 'method interceptor');
const GlobalPipe = makeEnhancer('pipe', 'global pipe');
const ClassPipe = makeEnhancer('pipe', 'class pipe');
const MethodPipe = makeEnhancer('pipe', 'method pipe');
const ParameterPipe = makeEnhancer('pipe', 'parameter pipe');
const GlobalFilter = makeEnhancer('filter', 'global filter');

let trace: Trace;

const input = z.object({ who: z.string() }).transform(value => {
  trace.steps.push('validation');
  return value;
});

@Injectable()
@UseGuards(ClassGuard)
@UseInterceptors(ClassInterceptor)
@UsePipes(ClassPipe)
class Ordered {
  constructor(private readonly trace: Trace) {}

  @Tool({ inputSchema: input })
  @UseGuards(MethodGuard)
  @UseInterceptors(MethodInterceptor)
  @UsePipes(MethodPipe)
  greet(@Args(ParameterPipe) { who }: { who: string }) {
    this.trace.steps.push('handler');
    return who;
  }
}

describe.each(anyPlatform())('enhancers run in order on %s:', platform => {
  let test: TestApp;
  afterEach(() => test.close());

  it('guards, interceptors, validation, pipes, handler; global ones outside, those of the method inside', async () => {
    const globals: [keyof typeof APP, Type][] = [
      ['guard', GlobalGuard],
      ['interceptor', GlobalInterceptor],
      ['pipe', GlobalPipe],
    ];
    test = await startApp([Ordered], {
      platform,
      module: {
        providers: [Trace, ...globals.map(([kind, useClass]) => ({ provide: APP[kind], useClass }))],
      },
    });
    trace = test.app.get(Trace);
    const client = await test.client();
    await client.callTool({ name: 'greet', arguments: { who: 'ada' } });
    expect(trace.steps).toEqual([
      'global guard',
      'class guard',
      'method guard',
      'global interceptor',
      'class interceptor',
      'method interceptor',
      'validation',
      'global pipe',
      'class pipe',
      'method pipe',
      'parameter pipe',
      'handler',
      'after method interceptor',
      'after class interceptor',
      'after global interceptor',
    ]);
  });
});

/** A filter that answers with its name, for the errors of one class. */
function filterOf(error: Type, name: string) {
  @Catch(error)
  class NamedFilter {
    catch(caught: Error) {
      return `${name}: ${caught.message}`;
    }
  }
  return new NamedFilter();
}

const failing = (stage: string) => {
  throw new ConflictException(stage);
};

/** Every stage that can fail, as the first that does. */
const STAGES: Record<string, () => MethodDecorator> = {
  guard: () => UseGuards({ canActivate: () => failing('guard') }),
  interceptor: () => UseInterceptors({ intercept: () => failing('interceptor') }),
  'interceptor’s stream': () =>
    UseInterceptors({ intercept: () => throwError(() => new ConflictException('interceptor’s stream')) }),
  pipe: () => UsePipes({ transform: () => failing('pipe') }),
  handler: () => () => undefined,
};

describe('filters', () => {
  let test: TestApp;
  afterEach(() => test.close());

  it.each(Object.entries(STAGES))('take what a %s throws', async (stage, decorate) => {
    @Injectable()
    class Failing {
      @Tool({ inputSchema: { type: 'object' } })
      @UseFilters(filterOf(ConflictException, 'filter'))
      @decorate()
      fail(@Args() _args: unknown) {
        return failing('handler');
      }
    }
    test = await startApp([Failing]);
    const result = await (await test.client()).callTool({ name: 'fail' });
    expect(textOf(result)).toBe(`filter: ${stage}`);
  });

  it('stand nearest first, and each takes only the errors it names', async () => {
    @Injectable()
    @UseFilters(filterOf(ForbiddenException, 'class'), filterOf(ConflictException, 'class'))
    class Filtered {
      @Tool()
      @UseFilters(filterOf(ConflictException, 'method'))
      fail(@Args('how') how: string) {
        if (how === 'conflict') throw new ConflictException(how);
        if (how === 'forbidden') throw new ForbiddenException(how);
        throw new BadRequestException(how);
      }
    }
    test = await startApp([Filtered], {
      module: { providers: [Trace, { provide: APP.filter, useClass: GlobalFilter }] },
    });
    const client = await test.client();
    const fail = async (how: string) => textOf(await client.callTool({ name: 'fail', arguments: { how } }));
    expect(await fail('conflict')).toBe('method: conflict');
    expect(await fail('forbidden')).toBe('class: forbidden');
    expect(await fail('bad')).toBe('bad, global filter');
  });

  it('see only what interceptors let through', async () => {
    const mapping = {
      intercept: (_context: unknown, next: { handle(): ReturnType<typeof throwError> }) =>
        next.handle().pipe(catchError(() => throwError(() => new ForbiddenException('mapped')))),
    };
    @Injectable()
    class Mapped {
      @Tool({ inputSchema: z.object({ n: z.number() }) })
      @UseInterceptors(mapping)
      @UseFilters(filterOf(ForbiddenException, 'filter'))
      fail() {
        return failing('handler');
      }
    }
    test = await startApp([Mapped]);
    const client = await test.client();
    for (const n of [1, 'not a number']) {
      expect(textOf(await client.callTool({ name: 'fail', arguments: { n } }))).toBe('filter: mapped');
    }
  });
});
