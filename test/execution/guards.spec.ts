import {
  ForbiddenException,
  Injectable,
  UnauthorizedException,
  UseGuards,
  type CanActivate,
} from '@nestjs/common';
import {
  Args,
  Completion,
  McpException,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
  UriParams,
} from 'nestjs-mcp';
import { of, throwError } from 'rxjs';
import { z } from 'zod';
import { anyCell, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

const guard = (canActivate: CanActivate['canActivate']): CanActivate => ({ canActivate });

const fail = (error: Error) => () => {
  throw error;
};

const FORBIDDEN = { code: -32000, message: 'Forbidden resource', data: { statusCode: 403 } };

/** Every way in which a guard can refuse, and what the client is told. */
const REFUSALS: Record<string, [CanActivate, { code: number; message: unknown; data?: unknown }]> = {
  'returns false': [guard(() => false), FORBIDDEN],
  'resolves to false': [guard(async () => false), FORBIDDEN],
  'emits false': [guard(() => of(true, false)), FORBIDDEN],
  'throws UnauthorizedException': [
    guard(fail(new UnauthorizedException('Who are you?'))),
    { code: -32000, message: 'Who are you?', data: { statusCode: 401 } },
  ],
  'rejects with ForbiddenException': [
    guard(() => Promise.reject(new ForbiddenException())),
    {
      code: -32000,
      message: 'Forbidden',
      data: { statusCode: 403 },
    },
  ],
  'emits an error': [
    guard(() => throwError(() => new ForbiddenException('Not today'))),
    {
      code: -32000,
      message: 'Not today',
      data: { statusCode: 403 },
    },
  ],
  'throws McpException': [
    guard(fail(new McpException(-31999, 'Buy more credits', { credits: 0 }))),
    { code: -31999, message: 'Buy more credits', data: { credits: 0 } },
  ],
  'fails unexpectedly': [
    guard(fail(new Error('password=hunter2'))),
    { code: -32603, message: expect.stringMatching(/^Internal error \(reference [\da-f-]{36}\)$/) },
  ],
};

const called = jest.fn();
let refusal: CanActivate;

/** Refuses as the test at hand wants it. */
const current = guard(context => refusal.canActivate(context));

@Injectable()
@UseGuards(current)
class Handlers {
  @Tool({ inputSchema: z.object({ secretField: z.string() }), outputSchema: z.object({}) })
  tool() {
    called();
  }

  @Prompt({ argsSchema: z.object({ secretField: z.string() }) })
  prompt() {
    called();
  }

  @Resource({ uri: 'config://app' })
  resource() {
    called();
  }

  @ResourceTemplate({
    uriTemplate: 'users://{id}',
    uriParamsSchema: z.object({ id: z.coerce.number<string>() }),
  })
  template(@UriParams('id') _id: number) {
    called();
  }

  @Completion({ prompt: 'prompt', argument: 'secretField' })
  completion() {
    called();
  }
}

async function expectAll(error: object, calls: (() => Promise<unknown>)[]) {
  for (const call of calls) await expect(call()).rejects.toMatchObject(error);
}

describe.each(anyCell())('a guard, over $name,', ({ platform, era, legacy }) => {
  let test: TestApp;
  let client: Awaited<ReturnType<TestApp['client']>>;

  beforeAll(async () => {
    test = await startApp([Handlers], { platform, mcp: { legacy } });
    client = await test.client({ era });
  });
  afterAll(() => test.close());

  it.each(Object.keys(REFUSALS))('that %s lets nothing through to any handler', async how => {
    const [denying, error] = REFUSALS[how];
    refusal = denying;
    await expectAll(error, [
      () => client.callTool({ name: 'tool', arguments: { secretField: 'x' } }),
      () => client.getPrompt({ name: 'prompt', arguments: { secretField: 'x' } }),
      () => client.readResource({ uri: 'config://app' }),
      () => client.readResource({ uri: 'users://7' }),
      () =>
        client.complete({
          ref: { type: 'ref/prompt', name: 'prompt' },
          argument: { name: 'secretField', value: '' },
        }),
    ]);
    expect(called).not.toHaveBeenCalled();
  });

  it('refuses before the arguments are looked at, so that nobody learns of them', async () => {
    refusal = guard(() => false);
    await expectAll(FORBIDDEN, [
      () => client.callTool({ name: 'tool', arguments: { wrong: 1 } }),
      () => client.getPrompt({ name: 'prompt' }),
      () => client.readResource({ uri: 'users://not-a-number' }),
    ]);
  });
});

describe('a guard', () => {
  it('that returns an Observable is asked for its last value', async () => {
    @Injectable()
    class Tools {
      @Tool({ inputSchema: { type: 'object' } })
      @UseGuards(guard(() => of(false, true)))
      open(@Args() _args: unknown) {
        return 'open';
      }
    }
    const test = await startApp([Tools]);
    expect(textOf(await (await test.client()).callTool({ name: 'open' }))).toBe('open');
    await test.close();
  });

  it('stops the guards after it', async () => {
    const second = jest.fn(() => true);
    @Injectable()
    class Tools {
      @Tool()
      @UseGuards(guard(() => false), guard(second))
      closed() {
        return 'open';
      }
    }
    const test = await startApp([Tools]);
    await expect((await test.client()).callTool({ name: 'closed' })).rejects.toMatchObject(FORBIDDEN);
    expect(second).not.toHaveBeenCalled();
    await test.close();
  });
});
