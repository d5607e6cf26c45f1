import { Injectable } from '@nestjs/common';
import { deny, Validator, type InterceptorInvocation } from 'nestjs-mcp';

@Injectable()
export class Guardrails {
  @Validator({ name: 'short-queries', events: ['tools/call'] })
  shortQueries({ payload }: InterceptorInvocation<'tools/call', 'request'>) {
    const { query } = payload.arguments ?? {};
    return typeof query !== 'string' || query.length <= 30 || deny('At most 30 characters');
  }
}
