import { Injectable } from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import {
  Args,
  Completion,
  Ctx,
  inputRequest,
  InputRequiredException,
  McpContext,
  McpErrorCode,
  McpException,
  Prompt,
  Resource,
  Tool,
  Validator,
} from 'nestjs-mcp';
import { Observable } from 'rxjs';
import { setImmediate as nextTurn } from 'node:timers/promises';

const FORM = { message: 'Which?', schema: { type: 'object', properties: {} } } as const;

/** An own span of the application. */
const own = (name: string) => trace.getTracer('app').startSpan(name).end();

@Injectable()
export class Handlers {
  @Tool()
  echo(@Args('text') text: string) {
    own('own');
    return text;
  }

  @Tool()
  broken(): never {
    throw new Error('unexpected');
  }

  @Tool()
  refused(): never {
    throw new McpException(McpErrorCode.Refused, 'Not now');
  }

  @Tool()
  async waits(@Ctx() ctx: McpContext) {
    const { signal } = ctx;
    await ctx.reportProgress(0);
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  }

  @Tool()
  async asks(@Ctx() ctx: McpContext) {
    own('before');
    await ctx.elicit('which', FORM);
    own('between');
    await ctx.elicit('other', FORM);
    own('after');
    return 'asked';
  }

  @Tool()
  async elicits(@Ctx() ctx: McpContext) {
    await ctx.elicit('which', FORM);
    return 'asked';
  }

  @Tool()
  async samples(@Ctx() ctx: McpContext) {
    await ctx.sample('thought', {
      messages: [{ role: 'user', content: { type: 'text', text: 'a' } }],
      maxTokens: 1,
    });
    return 'asked';
  }

  @Tool()
  async lists(@Ctx() ctx: McpContext) {
    await ctx.roots();
    return 'asked';
  }

  @Tool()
  throwsQuestion(@Ctx() ctx: McpContext) {
    own('round');
    if (ctx.inputResponse('which').kind !== 'missing') return 'asked';
    throw new InputRequiredException({ inputRequests: { which: inputRequest.elicit(FORM) } });
  }

  @Tool()
  emits() {
    return new Observable(subscriber => {
      void nextTurn().then(() => {
        own('emitted');
        subscriber.next('one');
        subscriber.complete();
      });
    });
  }

  @Prompt()
  greet() {
    return 'hello';
  }

  @Prompt()
  fails(): never {
    throw new Error('unexpected');
  }

  @Completion({ prompt: 'named', argument: 'who' })
  who() {
    return ['ada'];
  }

  @Prompt()
  named(@Args('who') who: string) {
    return who;
  }

  @Resource({ uri: 'config://app' })
  config() {
    return 'config';
  }

  @Resource({ uri: 'config://broken' })
  brokenConfig(): never {
    throw new Error('unexpected');
  }
}

/** An interceptor that other servers can invoke. */
@Injectable()
export class Looks {
  @Validator({ name: 'looks', events: ['tools/call'] })
  looks() {
    return true;
  }
}
