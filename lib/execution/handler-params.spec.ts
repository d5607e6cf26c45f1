import { Injectable, ParseBoolPipe, ParseIntPipe } from '@nestjs/common';
import { Args, Ctx, McpContext, Prompt, Tool } from 'nestjs-mcp';
import { startApp, textOf } from '../../test/fixtures/matrix.js';

class Base {
  @Tool()
  greet(@Args('who') who: unknown, @Ctx() ctx: unknown): string {
    return `${String(who)} by ${(ctx as McpContext).method}`;
  }
}

@Injectable()
class Swapped extends Base {
  @Tool()
  override greet(@Ctx() ctx: McpContext, @Args('name') name: string): string {
    return `${name} for ${ctx.method}`;
  }
}

@Injectable()
class Prompts {
  @Prompt()
  page(@Args('n', ParseIntPipe) n: number, @Args('draft', ParseBoolPipe) draft: boolean) {
    return `${n} ${draft}`;
  }
}

class Tools {
  @Tool()
  half(@Args('of', ParseIntPipe) of: number) {
    return of / 2;
  }
}

describe('parameters', () => {
  it('of an override are its own, not the base class’s', async () => {
    const test = await startApp([Swapped]);
    const client = await test.client();
    const result = await client.callTool({ name: 'greet', arguments: { name: 'Ada' } });
    expect(textOf(result)).toBe('Ada for tools/call');
    await test.close();
  });

  it('of a prompt take text, which is all that a client can send', async () => {
    const test = await startApp([Prompts]);
    const client = await test.client();
    const { messages } = await client.getPrompt({ name: 'page', arguments: { n: '7', draft: 'true' } });
    expect(messages[0].content).toEqual({ type: 'text', text: '7 true' });
    await test.close();
  });

  it('with a pipe class are refused where Nest would not run it', async () => {
    const starting = startApp([], {
      module: { providers: [{ provide: 'TOOLS', useFactory: () => new Tools() }] },
    });
    await expect(starting).rejects.toThrow(/^Tools\.half: ParseIntPipe would not run/);
  });
});
