import * as common from '@nestjs/common';
import { Injectable, UseInterceptors, type PipeTransform, type Type } from '@nestjs/common';
import { Prompt, Tool } from 'nestjs-mcp';
import { map } from 'rxjs';
import { z } from 'zod';
import { LogSpy } from '../fixtures/log-spy.js';
import { startApp, textOf, type TestApp } from '../fixtures/matrix.js';

/** What only Nest 12 exports. */
const { StandardSchemaValidationPipe, StandardSchemaSerializerInterceptor } = common as unknown as Record<
  string,
  Type<PipeTransform> | undefined
>;
/** Nest 11 has neither: there, these tests have nothing to look at. */
const onNest12: (name: string, test: () => Promise<void>) => void = StandardSchemaValidationPipe
  ? it
  : name => it(`${name} (not on Nest 11)`, () => expect(StandardSchemaSerializerInterceptor).toBeUndefined());

let app: TestApp | undefined;
afterEach(() => app?.close());

onNest12('StandardSchemaValidationPipe validates the arguments of a handler', async () => {
  const even = z.object({
    n: z
      .number()
      .refine(n => n % 2 === 0, 'n must be even')
      .transform(n => n * 10),
  });
  @Injectable()
  class Tools {
    @Tool({ inputSchema: z.object({ n: z.number() }) })
    halve(@common.Body({ schema: even } as never) { n }: { n: number }) {
      return n;
    }
  }
  const pipe = new StandardSchemaValidationPipe!();
  app = await startApp([Tools], { configure: nest => nest.useGlobalPipes(pipe) });
  const client = await app.client();
  expect(textOf(await client.callTool({ name: 'halve', arguments: { n: 4 } }))).toBe('40');
  expect(textOf(await client.callTool({ name: 'halve', arguments: { n: 3 } }))).toBe('n: n must be even');
});

onNest12('StandardSchemaSerializerInterceptor shapes the result of a handler', async () => {
  const { SerializeOptions } = common;
  // Nest 11 knows no `schema` among them.
  const options: object = { schema: z.object({ name: z.string() }) };
  @Injectable()
  class Tools {
    @Tool()
    @UseInterceptors(StandardSchemaSerializerInterceptor as never)
    @SerializeOptions(options)
    user() {
      return { name: 'Ada', password: 'secret' };
    }
  }
  app = await startApp([Tools]);
  const client = await app.client();
  expect(textOf(await client.callTool({ name: 'user' }))).toBe('{"name":"Ada"}');
});

it('an interceptor that made a result invalid is named as a cause, with the remedy', async () => {
  const wrapping = {
    intercept: (_: unknown, next: common.CallHandler) => next.handle().pipe(map(data => ({ data }))),
  };
  @Injectable()
  @UseInterceptors(wrapping)
  class Handlers {
    @Tool({ outputSchema: z.object({ n: z.number() }) })
    tool() {
      return { n: 1 };
    }

    @Prompt()
    prompt() {
      return 'Hello';
    }
  }
  const log = new LogSpy();
  app = await startApp([Handlers], { configure: nest => nest.useLogger(log) });
  const client = await app.client();
  expect(await client.callTool({ name: 'tool' })).toMatchObject({ isError: true });
  await expect(client.getPrompt({ name: 'prompt' })).rejects.toMatchObject({ code: -32603 });
  const remedy =
    'if a Nest interceptor changed the result, make it skip calls whose context.getType() is "mcp"';
  expect(log.errors[0]).toContain(`Handlers.tool failed`);
  expect(log.errors[0]).toContain(remedy);
  expect(log.errors[1]).toContain(`Handlers.prompt failed`);
  expect(log.errors[1]).toContain(remedy);
});
