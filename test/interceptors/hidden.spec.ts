import { Injectable, type Type } from '@nestjs/common';
import type { Client } from '@modelcontextprotocol/client';
import {
  Completion,
  McpServerRegistry,
  Mutator,
  Prompt,
  Args,
  Resource,
  ResourceTemplate,
  respondWith,
  Tool,
  UriParams,
  Validator,
  type InterceptorInvocation,
} from 'nestjs-mcp';
import { z } from 'zod';
import { anyCell, startApp, textOf, type TestApp } from '../fixtures/matrix.js';

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

  @Resource({ uri: 'shop://open' })
  openResource() {
    return 'open';
  }

  @Resource({ uri: 'shop://hidden' })
  hiddenResource() {
    return 'hidden';
  }

  @ResourceTemplate({ uriTemplate: 'secret://{id}' })
  secret(@UriParams('id') id: string) {
    return id;
  }

  @Prompt({ argsSchema: z.object({ name: z.string() }) })
  hiddenPrompt(@Args('name') name: string) {
    return name;
  }

  @Completion({ prompt: 'hiddenPrompt', argument: 'name' })
  names() {
    return ['ada'];
  }

  @Completion({ resourceTemplate: 'secret://{id}', argument: 'id' })
  ids() {
    return ['7'];
  }
}

type Listed = Readonly<Record<string, unknown>> & {
  readonly tools?: { name: string }[];
  readonly prompts?: object[];
  readonly resources?: { uri: string }[];
  readonly resourceTemplates?: object[];
};

/** Hides what a list shows, in the response phase. */
@Injectable()
class HidesInResponse {
  @Mutator({ events: ['tools/list', 'prompts/list', 'resources/list'], phase: 'response' })
  hide({ payload }: InterceptorInvocation<Listed>) {
    const { tools, prompts, resources, resourceTemplates } = payload;
    return {
      ...payload,
      ...(tools && { tools: tools.filter(({ name }) => name !== 'wipe') }),
      ...(prompts && { prompts: [] }),
      ...(resources && { resources: resources.filter(({ uri }) => uri !== 'shop://hidden') }),
      ...(resourceTemplates && { resourceTemplates: [] }),
    };
  }
}

/** Answers the list itself, in the request phase. */
@Injectable()
class AnswersList {
  @Mutator({ events: ['tools/list'] })
  answer() {
    return respondWith({ tools: [] });
  }
}

/** Decides in the request phase, and hides in the response phase. */
@Injectable()
class RemembersInBag {
  @Mutator({ events: ['tools/list'] })
  decide({ bag }: InterceptorInvocation<'tools/list', 'request'>) {
    bag.set('hides', true);
    return undefined;
  }

  @Mutator({ events: ['tools/list'], phase: 'response' })
  hide({ payload, bag }: InterceptorInvocation<'tools/list', 'response'>) {
    return bag.get('hides') ? { ...payload, tools: [] } : undefined;
  }
}

/** Makes a call of one tool into a call of another. */
@Injectable()
class Redirects extends HidesInResponse {
  @Mutator({ events: ['tools/call'], scope: { allow: ['/name'] } })
  redirect({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return { ...payload, name: 'wipe' };
  }
}

/** The same, and answers it at once. */
@Injectable()
class RedirectsAndAnswers extends Redirects {
  @Mutator({ events: ['tools/call'], priority: 1 })
  answerAll() {
    return respondWith({ content: [{ type: 'text', text: 'answered' }] });
  }
}

/** Has something to say of calls, whatever they are of. */
@Injectable()
class LooksAtCalls extends HidesInResponse {
  @Mutator({ events: ['tools/list'], phase: 'response' })
  add({ payload }: InterceptorInvocation<'tools/list', 'response'>) {
    const added = { name: 'added', inputSchema: { type: 'object' as const } };
    return { ...payload, tools: [...payload.tools, added] };
  }

  @Validator({ events: ['tools/call'] })
  noForce({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return payload.arguments?.['force'] !== true;
  }

  @Mutator({ events: ['tools/call'] })
  answerDry({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return payload.arguments?.['dry'] ? respondWith({ content: [{ type: 'text', text: 'dry' }] }) : undefined;
  }
}

/** Says of completions what it makes of them, whatever they are for. */
@Injectable()
class LooksAtCompletions extends HidesInResponse {
  @Mutator({ events: ['completion/complete'] })
  change({ payload }: InterceptorInvocation<Completing>) {
    const { value } = payload.argument;
    return value === '' ? undefined : { ...payload, argument: { ...payload.argument, value: `${value}!` } };
  }

  @Mutator({ events: ['completion/complete'] })
  reply({ payload }: InterceptorInvocation<Completing>) {
    return payload.argument.value === 'answered!'
      ? respondWith({ completion: { values: ['dry'] } })
      : undefined;
  }
}

interface Completing {
  readonly argument: { readonly value: string };
}

const apps: TestApp[] = [];
afterEach(async () => {
  for (const test of apps.splice(0)) await test.close();
});

const unknown = { code: -32602, message: expect.stringContaining('Unknown tool') as string };

describe.each(anyCell())('what a list hides, over $name', ({ platform, era, legacy }) => {
  const start = async (interceptors: typeof HidesInResponse | typeof AnswersList | typeof RemembersInBag) => {
    const test = await startApp([Shop, interceptors], {
      platform,
      mcp: { legacy },
      forceCloseConnections: true,
    });
    apps.push(test);
    return { test, client: await test.client({ era }) };
  };

  it.each([
    ['in the response phase', HidesInResponse],
    ['by answering in the request phase', AnswersList],
    ['by what it remembered from the request phase', RemembersInBag],
  ])('%s cannot be called', async (_how, interceptors) => {
    const { client } = await start(interceptors);
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('wipe');
    await expect(client.callTool({ name: 'wipe' })).rejects.toMatchObject(unknown);
  });

  it.each([
    ['called', Redirects],
    ['answered', RedirectsAndAnswers],
  ])(
    'cannot be %s by way of a mutator, which tells no name but the one asked for',
    async (_what, redirects) => {
      const { client } = await start(redirects);
      const refusal = { ...unknown, message: expect.stringContaining('Unknown tool: open') as string };
      await expect(client.callTool({ name: 'open' })).rejects.toMatchObject(refusal);
    },
  );

  it('cannot be answered in its place, either, but what a list adds can', async () => {
    const { client } = await start(LooksAtCalls);
    const dry = { arguments: { dry: true } };
    await expect(client.callTool({ name: 'wipe', ...dry })).rejects.toMatchObject(unknown);
    expect(textOf(await client.callTool({ name: 'open', ...dry }))).toBe('dry');
    expect(textOf(await client.callTool({ name: 'added', ...dry }))).toBe('dry');
  });

  it.each([{}, { force: true }, { dry: true }])(
    'is answered like what does not exist by interceptors of calls, too: %j',
    async args => {
      const { client } = await start(LooksAtCalls);
      const answerOf = async (name: string) => {
        const answer = await client.callTool({ name, arguments: args }).catch((error: unknown) => error);
        return JSON.stringify(answer, ['code', 'data', 'validationErrors', 'interceptor', 'content', 'text']);
      };
      expect(await answerOf('wipe')).toBe(await answerOf('none'));
    },
  );

  it('cannot be completed, as if it did not exist', async () => {
    const { client } = await start(HidesInResponse);
    const complete = (ref: Parameters<Client['complete']>[0]['ref'], argument: string) =>
      client.complete({ ref, argument: { name: argument, value: '' } });
    await expect(complete({ type: 'ref/prompt', name: 'hiddenPrompt' }, 'name')).rejects.toThrow();
    await expect(complete({ type: 'ref/resource', uri: 'secret://{id}' }, 'id')).rejects.toThrow();
  });

  it.each(['', 'changed', 'answered'])(
    'is completed like what does not exist by interceptors of completions, too: %j',
    async value => {
      const { client } = await start(LooksAtCompletions);
      const answerOf = async (name: string) => {
        const completing = client.complete({
          ref: { type: 'ref/prompt', name },
          argument: { name: 'name', value },
        });
        const answer = await completing.catch((error: Error) => error.message);
        return JSON.stringify(answer).replaceAll(name, '…');
      };
      const answer = await answerOf('hiddenPrompt');
      expect(answer).toBe(await answerOf('none'));
      expect(answer).toContain('Unknown prompt');
    },
  );

  it('cannot be read, nor listened to', async () => {
    const { client } = await start(HidesInResponse);
    await expect(client.readResource({ uri: 'secret://7' })).rejects.toThrow(/not found/i);
    await expect(client.readResource({ uri: 'shop://hidden' })).rejects.toThrow(/not found/i);
    if (era === 'modern') {
      await expect(client.listen({ resourceSubscriptions: ['shop://hidden'] })).rejects.toThrow(/not found/i);
    } else if (legacy === 'sessions') {
      await expect(client.subscribeResource({ uri: 'shop://hidden' })).rejects.toThrow(/not found/i);
    }
  });
});

@Injectable()
class RefusesSubscription {
  @Validator({ events: ['resources/subscribe'], phase: 'response' })
  refuse() {
    return false;
  }
}

describe.each(['modern', 'legacy'] as const)('a subscription that was refused in its response, %s', era => {
  it('is none', async () => {
    const { subscribe, updates } = await listener(RefusesSubscription, era);
    await expect(subscribe('shop://open')).rejects.toMatchObject({ code: -32602 });
    expect(await updates('shop://open')).toEqual([]);
  });
});

@Injectable()
class AnswersSubscription extends HidesInResponse {
  @Mutator({ events: ['resources/subscribe'] })
  answer() {
    return respondWith({});
  }
}

describe.each(['shop://hidden', 'shop://open'])('a subscription that an interceptor answers, to %s', uri => {
  it('is none where it listens', async () => {
    const { subscribe, updates } = await listener(AnswersSubscription, 'modern');
    await expect(subscribe(uri)).rejects.toThrow();
    expect(await updates(uri)).toEqual([]);
  });

  it('is none where it is asked for', async () => {
    const { subscribe, updates } = await listener(AnswersSubscription, 'legacy');
    const outcome = await subscribe(uri).then(
      () => 'answered',
      () => 'refused',
    );
    expect(outcome).toBe(uri === 'shop://open' ? 'answered' : 'refused');
    expect(await updates(uri)).toEqual([]);
  });
});

@Injectable()
class RefusesSecond {
  private count = 0;

  @Validator({ events: ['resources/subscribe'], phase: 'response' })
  once() {
    return this.count++ === 0;
  }
}

it('a subscription stays where another one to the same is refused', async () => {
  const { subscribe, updates } = await listener(RefusesSecond, 'legacy');
  await subscribe('shop://open');
  await expect(subscribe('shop://open')).rejects.toMatchObject({ code: -32602 });
  expect(await updates('shop://open')).toEqual(['shop://open']);
});

async function listener(interceptors: Type, era: 'modern' | 'legacy') {
  const test = await startApp([Shop, interceptors], { forceCloseConnections: true });
  apps.push(test);
  const client = await test.client({ era });
  const updated: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    updated.push(params.uri);
  });
  return {
    subscribe: async (uri: string): Promise<unknown> =>
      era === 'modern' ? client.listen({ resourceSubscriptions: [uri] }) : client.subscribeResource({ uri }),
    /** What the client was told once a resource has changed. */
    updates: async (uri: string): Promise<string[]> => {
      test.app.get(McpServerRegistry, { strict: false }).resourceUpdated(uri);
      // Whatever was sent before this answer has arrived with it.
      expect(textOf(await client.callTool({ name: 'open' }))).toBe('open');
      return updated;
    },
  };
}
