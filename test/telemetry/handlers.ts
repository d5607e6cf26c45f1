import { Injectable, NotFoundException } from '@nestjs/common';
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
  waits(@Ctx() { signal }: McpContext) {
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

  @Resource({ uri: 'config://gone' })
  gone(): never {
    throw new NotFoundException();
  }
}
