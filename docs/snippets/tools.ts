import type { CallToolResult } from '@modelcontextprotocol/server';
import { interval, map, take } from 'rxjs';
import { Args, Ctx, McpContext, Tool } from 'nestjs-mcp';
import { z } from 'zod';

class Thermometers {
  read(city: string) {
    return city.length;
  }
}

export class Weather {
  private readonly thermometers = new Thermometers();

  // #region output
  @Tool({
    inputSchema: z.object({ city: z.string() }),
    outputSchema: z.object({ celsius: z.number() }),
  })
  weather(@Args() { city }: { city: string }) {
    return { celsius: this.thermometers.read(city) };
  }
  // #endregion output

  // #region named
  @Tool()
  greet(
    @Args('name') name: string,
    @Args({ name: 'loud', optional: true, description: 'In capitals' })
    loud?: boolean,
  ) {
    return loud ? `HELLO, ${name.toUpperCase()}!` : `Hello, ${name}!`;
  }
  // #endregion named

  // #region content
  @Tool({ description: 'A picture of the warehouse' })
  camera(): CallToolResult {
    return {
      content: [
        { type: 'text', text: 'Aisle 4' },
        { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' },
      ],
    };
  }
  // #endregion content

  // #region progress
  @Tool()
  async index(@Args('files') files: number, @Ctx() ctx: McpContext) {
    for (let file = 1; file <= files && !ctx.signal.aborted; file++) {
      await ctx.reportProgress({ progress: file, total: files });
      await ctx.log('debug', { file });
    }
    return `${files} files`;
  }

  @Tool()
  count() {
    return interval(100).pipe(
      take(3),
      map(step => `step ${step}`),
    ); // two messages of progress, then the result
  }
  // #endregion progress
}
