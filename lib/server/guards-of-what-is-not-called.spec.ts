import { Injectable, UseGuards, type CanActivate } from '@nestjs/common';
import {
  Args,
  inputRequest,
  InputRequiredException,
  McpServerRegistry,
  Prompt,
  Resource,
  Tool,
} from 'nestjs-mcp';
import { z } from 'zod';
import { anyCell, startApp } from '../../test/fixtures/matrix.js';

class Deny implements CanActivate {
  canActivate() {
    return false;
  }
}

class Asks implements CanActivate {
  canActivate(): boolean {
    const schema = { type: 'object', properties: {} } as const;
    throw new InputRequiredException({
      inputRequests: { age: inputRequest.elicit({ message: 'Of age?', schema }) },
    });
  }
}

@Injectable()
class Guarded {
  @UseGuards(new Deny())
  @Resource({ uri: 'secret://x' })
  secret() {
    return 'x';
  }

  @UseGuards(new Asks())
  @Resource({ uri: 'asks://x' })
  asking() {
    return 'x';
  }

  @UseGuards(new Deny())
  @Prompt({ argsSchema: z.object({ customer: z.enum(['acme', 'beta']) }) })
  denied(@Args() args: object) {
    return JSON.stringify(args);
  }

  @Tool({ inputSchema: { type: 'object' } })
  wide(@Args() args: object) {
    return String(Object.keys(args).length);
  }
}

describe.each(anyCell())('over $name', ({ platform, era, legacy }) => {
  const start = () => startApp([Guarded], { platform, mcp: { legacy } });

  it('a resource that may not be read may not be watched either', async () => {
    const test = await start();
    const client = await test.client({ era });
    const watching =
      era === 'modern'
        ? client.listen({ resourceSubscriptions: ['secret://x'] })
        : client.subscribeResource({ uri: 'secret://x' });
    await expect(watching).rejects.toThrow();
    await test.close();
  });

  if (era === 'legacy') {
    it('a resource whose guard asks first may be read, but not watched', async () => {
      const test = await start();
      const client = await test.client({ era });
      await expect(client.subscribeResource({ uri: 'asks://x' })).rejects.toMatchObject({
        code: -32000,
        message: expect.stringContaining('needs input from the client'),
      });
      await test.close();
    });
  }

  it('the choices of a guarded prompt are behind its guard', async () => {
    const test = await start();
    const client = await test.client({ era });
    const completing = client.complete({
      ref: { type: 'ref/prompt', name: 'denied' },
      argument: { name: 'customer', value: '' },
    });
    await expect(completing).rejects.toMatchObject({ data: { statusCode: 403 } });
    await test.close();
  });

  it('arguments that hold too much are refused before anything looks at them', async () => {
    const test = await start();
    const client = await test.client({ era });
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
    expect((await client.callTool({ name: 'wide', arguments: many(10_000) })).isError).toBeUndefined();
    await expect(client.callTool({ name: 'wide', arguments: many(10_001) })).rejects.toMatchObject({
      code: -32602,
    });
    await test.close();
  });
});

it('a handler that is added before the global guards are known is guarded by them', async () => {
  @Injectable()
  class Early {
    constructor(registry: McpServerRegistry) {
      void registry.add('tool', { name: 'early' }, () => 'leak');
    }
  }
  const test = await startApp([Early], {
    configure: app => app.useGlobalGuards({ canActivate: context => context.getType<string>() !== 'mcp' }),
  });
  const client = await test.client();
  await expect(client.callTool({ name: 'early' })).rejects.toMatchObject({ data: { statusCode: 403 } });
  await test.close();
});
