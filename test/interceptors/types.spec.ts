import { Injectable } from '@nestjs/common';
import { InterceptorChainRunner, Tool, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { startApp } from '../fixtures/matrix.js';

@Injectable()
class Typed {
  readonly seen: unknown[] = [];

  @Tool()
  echo() {
    return 'ok';
  }

  @Validator({ events: ['tools/call'] })
  called({ payload, event, phase, request }: InterceptorInvocation<'tools/call', 'request'>) {
    const name: string = payload.name;
    return this.saw({ event, phase, name, text: payload.arguments?.['text'], request });
  }

  @Validator({ events: ['tools/call'], phase: 'response' })
  answered({ payload, event, phase, request }: InterceptorInvocation<'tools/call', 'response'>) {
    const [first] = payload.content;
    return this.saw({ event, phase, said: first.type === 'text' && first.text, tool: request?.name });
  }

  @Validator({ events: ['tools/list'], phase: 'response' })
  listed({ payload, event, phase }: InterceptorInvocation<'tools/list', 'response'>) {
    return this.saw({ event, phase, tools: payload.tools.map(({ name }) => name) });
  }

  @Validator({ events: ['my/event'] })
  own({ payload, event, phase }: InterceptorInvocation<'my/event', 'request'>) {
    return this.saw({ event, phase, payload });
  }

  private saw(what: object): boolean {
    this.seen.push(what);
    return true;
  }
}

it('what comes is what the types (see types.ts) say', async () => {
  const test = await startApp([Typed]);
  const client = await test.client();
  await client.callTool({ name: 'echo', arguments: { text: 'hi' } });
  const { seen } = test.app.get(Typed);
  expect(seen.splice(0)).toEqual(
    expect.arrayContaining([
      { event: 'tools/call', phase: 'request', name: 'echo', text: 'hi', request: undefined },
      { event: 'tools/call', phase: 'response', said: 'ok', tool: 'echo' },
    ]),
  );
  await client.listTools();
  expect(seen.splice(0)).toContainEqual({ event: 'tools/list', phase: 'response', tools: ['echo'] });
  const runner = test.app.get(InterceptorChainRunner, { strict: false });
  await runner.run('my/event', 'request', { a: 1 });
  expect(seen).toEqual([{ event: 'my/event', phase: 'request', payload: { a: 1 } }]);
  await test.close();
});
