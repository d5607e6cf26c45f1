import { Injectable, Logger, type Type } from '@nestjs/common';
import {
  Args,
  InterceptorChainRunner,
  Mutator,
  Resource,
  ResourceTemplate,
  respondWith,
  Tool,
  UriParams,
  Validator,
  type InterceptorInvocation,
} from 'nestjs-mcp';
import { startApp, textOf, type TestApp } from '../fixtures/matrix.js';

const ANSWERS: Readonly<Record<string, object | null>> = {
  none: null,
  wrong: { nope: 1 },
  asking: { resultType: 'input_required', requestState: 's', content: [{ type: 'text', text: 'secret' }] },
};

@Injectable()
class Shop {
  @Tool()
  open(@Args('how') how: string) {
    return how;
  }
}

@Injectable()
class Answers {
  @Mutator({ name: 'answers', events: ['tools/call'] })
  answer({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return respondWith(ANSWERS[payload.arguments?.['how'] as string] as object);
  }

  @Validator({ name: 'guard', events: ['tools/call'], phase: 'response' })
  guard({ payload }: InterceptorInvocation) {
    return !JSON.stringify(payload).includes('secret');
  }
}

let test: TestApp;
beforeAll(async () => {
  jest.spyOn(Logger.prototype, 'error').mockImplementation();
  test = await startApp([Shop, Answers]);
});
afterAll(async () => {
  await test.close();
  jest.restoreAllMocks();
});

it.each([
  ['nothing', 'none', { code: -32603, data: { failedInterceptor: 'answers' } }],
  ['what is no result', 'wrong', { code: -32603, data: { failedInterceptor: 'answers' } }],
  [
    'what looks like a question, and is a result',
    'asking',
    { code: -32602, data: { validationErrors: [{ interceptor: 'guard' }] } },
  ],
])('what an interceptor answers does not pass where it is %s', async (_what, how, refusal) => {
  const client = await test.client();
  await expect(client.callTool({ name: 'open', arguments: { how } })).rejects.toMatchObject(refusal);
});

describe('an answer that is none', () => {
  @Injectable()
  class FailsOpen {
    @Mutator({ name: 'open', events: ['tools/call'], failOpen: true })
    answer() {
      return respondWith({ nope: 1 });
    }
  }

  it('is a failure of its mutator, and lets the call pass where that fails open', async () => {
    const app = await startApp([Shop, FailsOpen]);
    try {
      const client = await app.client();
      expect(textOf(await client.callTool({ name: 'open', arguments: { how: 'so' } }))).toBe('so');
      const runner = app.app.get(InterceptorChainRunner, { strict: false });
      expect(runner.counters()['open']).toEqual({ crash: 1, 'failed-open': 1 });
    } finally {
      await app.close();
    }
  });
});

describe.each(['modern', 'legacy'] as const)('an answer, %s', era => {
  const start = async (...providers: Type[]) => {
    const app = await startApp(providers);
    return { app, client: await app.client({ era }) };
  };

  @Injectable()
  class Replaces {
    @Mutator({ name: 'cache', events: ['tools/call'] })
    answer() {
      return respondWith({ content: [{ type: 'text', text: 'cached' }] });
    }

    @Mutator({ events: ['tools/call'], phase: 'response' })
    upper({ payload }: InterceptorInvocation<'tools/call', 'response'>) {
      return { content: payload.content };
    }
  }

  it('is marked as synthetic, whatever becomes of it', async () => {
    const { app, client } = await start(Shop, Replaces);
    try {
      const result = await client.callTool({ name: 'open', arguments: { how: 'so' } });
      expect(result).toMatchObject({
        content: [{ text: 'cached' }],
        _meta: { 'nestjs-mcp/synthetic': { interceptor: 'cache' } },
      });
    } finally {
      await app.close();
    }
  });

  @Injectable()
  class Library {
    @Resource({ uri: 'lib://index' })
    index() {
      return 'index';
    }

    @ResourceTemplate({ uriTemplate: 'lib://books/{id}' })
    book(@UriParams('id') id: string) {
      return id;
    }
  }

  @Injectable()
  class AnswersResources {
    @Mutator({ events: ['resources/list'] })
    answer() {
      return respondWith({ resources: [{ uri: 'lib://other', name: 'other' }] });
    }
  }

  it('to one list of resources leaves the other one empty', async () => {
    const { app, client } = await start(Library, AnswersResources);
    try {
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toContain('lib://other');
      expect(await client.listResourceTemplates()).toMatchObject({ resourceTemplates: [] });
      await expect(client.readResource({ uri: 'lib://books/1' })).rejects.toThrow(/not found/i);
    } finally {
      await app.close();
    }
  });
});
