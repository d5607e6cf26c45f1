import { Injectable } from '@nestjs/common';
import { deny, Mutator, respondWith, Sink, Validator, type InterceptorInvocation } from 'nestjs-mcp';

@Injectable()
export class Guardrails {
  @Validator({ events: ['tools/call'] })
  politeQueries({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    const query = payload.arguments?.['query'];
    return (
      typeof query !== 'string' ||
      !query.includes('competitor') ||
      deny('We do not search for that', { path: 'arguments.query' })
    );
  }

  /** Only reports, until an override makes it `active`. */
  @Validator({ events: ['tools/call'], mode: 'audit' })
  shortQueries({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    const query = payload.arguments?.['query'];
    return (
      typeof query !== 'string' ||
      query.length <= 10 ||
      deny('The query is long', { path: 'arguments.query' })
    );
  }

  /** Declared as an audit, too: the override in the module makes it refuse. */
  @Validator({ events: ['tools/call'], mode: 'audit', when: { name: 'customer' } })
  plainIds({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return (
      /^\d+$/.test(String(payload.arguments?.['id'])) || deny('An id is a number', { path: 'arguments.id' })
    );
  }

  @Mutator({ events: ['tools/call'] })
  cache({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    return payload.arguments?.['query'] === 'lamp'
      ? respondWith({ content: [{ type: 'text', text: '5 results for lamp (cached)' }] })
      : undefined;
  }

  @Mutator({ events: ['tools/call'], phase: 'response' })
  hideCards({ payload }: InterceptorInvocation<'tools/call', 'response'>) {
    const text = JSON.stringify(payload);
    const hidden = text.replace(/\b(?:\d{4} ){3}\d{4}\b/g, '**** **** **** ****');
    return hidden === text ? undefined : (JSON.parse(hidden) as typeof payload);
  }

  @Mutator({ events: ['tools/list'], phase: 'response' })
  hideWipe({ payload }: InterceptorInvocation<'tools/list', 'response'>) {
    return { ...payload, tools: payload.tools.filter(({ name }) => name !== 'wipe') };
  }

  @Sink({ events: ['tools/*'], phase: 'both' })
  journal({ event, phase, report }: InterceptorInvocation) {
    for (const { interceptor, outcome, mode } of report?.results ?? []) {
      console.log(`  ${event} ${phase}: ${interceptor} ${outcome}${mode ? ` (${mode})` : ''}`);
    }
  }
}
