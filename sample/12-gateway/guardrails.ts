import { Injectable } from '@nestjs/common';
import { deny, Mutator, Validator, type InterceptorInvocation } from 'nestjs-mcp';

@Injectable()
export class Guardrails {
  /** A tool that shows the environment of the server is none for strangers. */
  @Mutator({ events: ['tools/list'], phase: 'response' })
  hideEnvironment({ payload }: InterceptorInvocation<'tools/list', 'response'>) {
    return { ...payload, tools: payload.tools.filter(({ name }) => name !== 'get-env') };
  }

  @Validator({ events: ['tools/call'] })
  smallSums({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    const { a } = payload.arguments ?? {};
    return typeof a !== 'number' || a <= 100 || deny('That is too much', { path: 'arguments.a' });
  }
}
