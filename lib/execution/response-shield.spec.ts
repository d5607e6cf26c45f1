import {
  Catch,
  ConflictException,
  Injectable,
  UseFilters,
  type ArgumentsHost,
  type ExceptionFilter,
} from '@nestjs/common';
import { Ctx, McpContext, Tool } from 'nestjs-mcp';
import { cells, startApp, textOf, type TestApp } from '../../test/fixtures/matrix.js';

interface Response {
  header(name: string, value: string): Response;
  status(code: number): Response;
  send(body: unknown): void;
}

@Catch()
class HttpFilter implements ExceptionFilter {
  catch(error: Error, host: ArgumentsHost) {
    const response = host.switchToHttp().getResponse<Response>();
    response.status(409).header('x-reason', 'conflict').send({ message: error.message });
  }
}

@Injectable()
class Tools {
  @Tool()
  @UseFilters(HttpFilter)
  async streamed(@Ctx() ctx: McpContext) {
    await ctx.reportProgress(1);
    throw new ConflictException('The stock is taken');
  }
}

describe.each(cells())('a filter that sets a header, over $name', ({ platform, era, legacy }) => {
  let test: TestApp;
  afterEach(() => test.close());

  it('leaves the error as it is, although the answer is a stream already', async () => {
    test = await startApp([Tools], { platform, mcp: { legacy } });
    const client = await test.client({ era });
    const onprogress = jest.fn();
    const result = await client.callTool({ name: 'streamed' }, { onprogress });
    expect(onprogress).toHaveBeenCalled();
    expect(textOf(result)).toBe('The stock is taken');
  });
});
