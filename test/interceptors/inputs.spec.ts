import { Injectable, Module, type INestApplication } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import { inputRequired } from '@modelcontextprotocol/server';
import {
  Args,
  Ctx,
  deny,
  McpContext,
  McpModule,
  Mutator,
  respondWith,
  Sink,
  Tool,
  Validator,
  type InterceptorInvocation,
} from 'nestjs-mcp';
import { send } from '../fixtures/raw-client.js';
import { textOf } from '../fixtures/matrix.js';
import { connect, ERAS, listen, outcomeOf, startGateway, type Running } from '../gateway/support.js';

const FORM = { type: 'object' as const, properties: { size: { type: 'string' as const } } };

@Injectable()
class Shop {
  /** Asks for a size in the words it is given, and says what it was answered. */
  @Tool({ inputSchema: { type: 'object', properties: { message: { type: 'string' } } } })
  ask(@Args() { message }: { message: string }, @Ctx() ctx: McpContext) {
    const { size } = ctx.inputResponses ?? {};
    if (size) return JSON.stringify(size);
    return inputRequired({
      inputRequests: { size: inputRequired.elicit({ message, requestedSchema: FORM }) },
    });
  }

  @Tool()
  where(@Ctx() ctx: McpContext) {
    const { roots } = ctx.inputResponses ?? {};
    return roots
      ? JSON.stringify(roots)
      : inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
  }

  @Tool()
  async awaited(@Ctx() ctx: McpContext) {
    return (await ctx.elicit('size', { message: 'Size?', schema: FORM })).action;
  }

  /** Asks for two things at a time. */
  @Tool()
  both(@Ctx() ctx: McpContext) {
    const { roots, size } = ctx.inputResponses ?? {};
    if (roots || size) return JSON.stringify({ roots, size });
    const elicit = inputRequired.elicit({ message: 'Size?', requestedSchema: FORM });
    return inputRequired({ inputRequests: { roots: inputRequired.listRoots(), size: elicit } });
  }

  /** Goes on asking, whatever it is answered. */
  @Tool()
  endless() {
    return inputRequired({ inputRequests: { roots: inputRequired.listRoots() } });
  }
}

const seen: string[] = [];

@Injectable()
class Policy {
  @Sink({ events: ['elicitation/create', 'roots/list'], phase: 'both' })
  see({ event, phase, direction }: InterceptorInvocation) {
    seen.push(`${event} ${phase} ${direction}`);
  }

  @Validator({ events: ['elicitation/create'] })
  noPasswords({ payload }: InterceptorInvocation<'elicitation/create', 'request'>) {
    return !String(payload['message']).includes('password') || deny('Nobody is asked for a password');
  }

  @Mutator({ events: ['elicitation/create'] })
  sign({ payload }: InterceptorInvocation<'elicitation/create', 'request'>) {
    return { ...payload, message: `${String(payload['message'])} (the shop)` };
  }

  @Validator({ events: ['elicitation/create'], phase: 'response' })
  noSecrets({ payload }: InterceptorInvocation<'elicitation/create', 'response'>) {
    return payload.content?.['size'] !== 'secret' || deny('That is a secret');
  }

  @Mutator({ events: ['elicitation/create'], phase: 'response' })
  upperCase({ payload }: InterceptorInvocation<'elicitation/create', 'response'>) {
    const { size } = payload.content ?? {};
    return typeof size === 'string' ? { ...payload, content: { size: size.toUpperCase() } } : undefined;
  }

  @Mutator({ events: ['roots/list'] })
  noRoots() {
    return respondWith({ roots: [{ uri: 'file:///nowhere' }] });
  }

  @Validator({ events: ['tools/call'], phase: 'response', inputRequired: true })
  noSizes({ payload }: InterceptorInvocation<'tools/call', 'response'>) {
    const text = JSON.stringify(payload);
    return !(text.includes('inputRequests') && text.includes('forbidden')) || deny('Nobody is asked that');
  }
}

@Module({ imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })], providers: [Shop] })
class ShopModule {}

@Module({ imports: [McpModule.forRoot({ name: 'shop', version: '1.0.0' })], providers: [Shop, Policy] })
class GovernedModule {}

const TARGETS: Record<string, (open: (app: INestApplication) => void) => Promise<Running>> = {
  'an application': () => listen(GovernedModule),
  'a gateway': async open => {
    const backend = await listen(ShopModule);
    open(backend.app);
    return startGateway({ backend: { url: backend.url } }, [Policy]);
  },
};

describe.each(Object.keys(TARGETS))('what the client of %s is asked', target => {
  describe.each(ERAS)('in the %s era', era => {
    const apps: INestApplication[] = [];
    let client: Client;
    let answer: unknown;
    const asked: string[] = [];
    const ask = (message: string) => client.callTool({ name: 'ask', arguments: { message } });

    beforeAll(async () => {
      const { app, url } = await TARGETS[target](backend => apps.push(backend));
      apps.push(app);
      client = await connect(url, era, {
        capabilities: { elicitation: { form: {} }, roots: {} },
        prepare: one => {
          one.setRequestHandler('elicitation/create', ({ params }) => {
            asked.push(params.message);
            return answer as never;
          });
          one.setRequestHandler('roots/list', () => {
            asked.push('roots');
            return { roots: [] };
          });
        },
      });
    });
    beforeEach(() => {
      asked.length = seen.length = 0;
      answer = { action: 'accept', content: { size: 'm' } };
    });
    afterAll(async () => {
      await client?.close();
      for (const app of apps.reverse()) await app.close();
    });

    it('passes the chain as it is sent, and the answer as it is received', async () => {
      expect(JSON.parse(textOf(await ask('Size?')))).toEqual({ action: 'accept', content: { size: 'M' } });
      expect(asked).toEqual(['Size? (the shop)']);
      expect(seen).toEqual(['elicitation/create request send', 'elicitation/create response receive']);
    });

    it.each([
      ['the question', 'Your password?', 'Nobody is asked for a password', 0],
      ['the whole result', 'A forbidden size?', 'Nobody is asked that', 0],
      ['the answer', 'Size?', 'That is a secret', 1],
    ])('is refused where %s is', async (_, message, said, times) => {
      answer = { action: 'accept', content: { size: 'secret' } };
      expect(await outcomeOf(ask(message))).toMatchObject({
        code: -32602,
        data: { validationErrors: [{ message: said }] },
      });
      expect(asked).toHaveLength(times);
      answer = { action: 'decline' };
      expect(JSON.parse(textOf(await ask('Size?')))).toEqual({ action: 'decline' });
    });

    it('is not asked where an interceptor answers', async () => {
      expect(JSON.parse(textOf(await client.callTool({ name: 'where' })))).toEqual({
        roots: [{ uri: 'file:///nowhere' }],
      });
      expect(asked).toEqual([]);
    });

    it('is refused where an interceptor answers a part, or without end', async () => {
      expect(await outcomeOf(client.callTool({ name: 'both' }))).toMatchObject({ code: -32603 });
      expect(await outcomeOf(client.callTool({ name: 'endless' }))).toMatchObject({ code: -32603 });
      expect(asked).toEqual([]);
    });
  });
});

it('is not told of answers that nobody asked for', async () => {
  const { app, url } = await listen(GovernedModule);
  const { result } = await send(url, { name: 'awaited' });
  seen.length = 0;
  const done = await send(url, {
    name: 'awaited',
    requestState: result!.requestState,
    inputResponses: {
      size: { action: 'decline' },
      other: { action: 'decline' },
      roots: { roots: [] },
      none: 7,
    },
  });
  expect(done.result!.content).toMatchObject([{ text: 'decline' }]);
  expect(seen).toEqual(['elicitation/create response receive']);
  await app.close();
});
