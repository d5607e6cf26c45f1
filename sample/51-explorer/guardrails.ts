import { Injectable } from '@nestjs/common';
import { deny, Mutator, Validator, type InterceptorInvocation } from 'nestjs-mcp';

@Injectable()
export class Guardrails {
  @Validator({ events: ['tools/call'], phase: 'request' })
  politeQueries({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    const query = payload.arguments?.['query'];
    const isPolite = typeof query !== 'string' || !query.includes('competitor');
    return isPolite || deny('We do not search for that', { path: 'arguments.query' });
  }

  /** An override in the module has it only audit. */
  @Validator({ events: ['tools/call'], phase: 'request', when: { name: 'search' } })
  shortQueries({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    const query = payload.arguments?.['query'];
    return typeof query !== 'string' || query.length <= 10 || deny('The query is long');
  }

  @Mutator({ events: ['tools/call'], phase: 'request', when: { name: 'search' }, priority: 10 })
  trimQueries({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    const { query } = payload.arguments ?? {};
    if (typeof query !== 'string' || query === query.trim()) return undefined;
    return { ...payload, arguments: { ...payload.arguments, query: query.trim() } };
  }

  @Mutator({ events: ['tools/list'], phase: 'response' })
  hideWipe({ payload }: InterceptorInvocation<'tools/list', 'response'>) {
    return { ...payload, tools: payload.tools.filter(({ name }) => name !== 'wipe') };
  }
}
