import { Injectable, Logger } from '@nestjs/common';
import { Args, Mutator, respondWith, Tool, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import { startApp, type TestApp } from '../fixtures/matrix.js';

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
  ['what is no result', 'wrong', { code: -32603 }],
  [
    'what looks like a question, and is a result',
    'asking',
    { code: -32602, data: { validationErrors: [{ interceptor: 'guard' }] } },
  ],
])('what an interceptor answers does not pass where it is %s', async (_what, how, refusal) => {
  const client = await test.client();
  await expect(client.callTool({ name: 'open', arguments: { how } })).rejects.toMatchObject(refusal);
});
