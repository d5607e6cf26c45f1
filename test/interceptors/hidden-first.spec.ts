import { Injectable } from '@nestjs/common';
import { Mutator, Resource, Sink, Tool, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { startApp } from '../fixtures/matrix.js';

@Injectable()
class Shop {
  @Tool()
  open() {
    return 'open';
  }

  @Tool()
  wipe() {
    return 'wiped';
  }

  @Resource({ uri: 'shop://hidden' })
  hidden() {
    return 'hidden';
  }
}

@Injectable()
class Hides {
  readonly paid: unknown[] = [];

  @Mutator({ events: ['tools/list'], phase: 'response' })
  tools({ payload }: InterceptorInvocation<'tools/list', 'response'>) {
    return { ...payload, tools: payload.tools.filter(({ name }) => name !== 'wipe') };
  }

  @Mutator({ events: ['resources/list'], phase: 'response' })
  resources({ payload }: InterceptorInvocation<'resources/list', 'response'>) {
    return payload.resources && { ...payload, resources: [] };
  }

  @Validator({ events: ['tools/call', 'resources/read'] })
  pay({ payload }: InterceptorInvocation<{ name?: string; uri?: string }>) {
    this.paid.push(payload.name ?? payload.uri);
    return false;
  }

  @Sink({ events: ['tools/call', 'resources/read'] })
  journal({ payload }: InterceptorInvocation<{ name?: string; uri?: string }>) {
    this.paid.push(payload.name ?? payload.uri);
  }
}

it('no interceptor of a call runs for what the caller is not shown, or what does not exist', async () => {
  const test = await startApp([Shop, Hides]);
  const client = await test.client();
  for (const name of ['wipe', 'none']) {
    await expect(client.callTool({ name })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(`Unknown tool: ${name}`) as string,
    });
  }
  for (const uri of ['shop://hidden', 'shop://none']) {
    await expect(client.readResource({ uri })).rejects.toThrow(/not found/i);
  }
  const { paid } = test.app.get(Hides);
  expect(paid).toEqual([]);
  await expect(client.callTool({ name: 'open' })).rejects.toMatchObject({
    message: expect.stringContaining('Interceptor validation failed') as string,
  });
  expect(paid).toEqual(['open', 'open']);
  await test.close();
});
