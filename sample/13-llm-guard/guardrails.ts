import { Injectable } from '@nestjs/common';
import { deny, Mutator, Validator, type InterceptorInvocation } from 'nestjs-mcp';
import type { Message } from './model.js';

const PHONE = /\+\d[\d ]{7,}\d/g;

/** Interceptors of an event that is none of the protocol's: calls of a language model. */
@Injectable()
export class Guardrails {
  @Validator({ events: ['llm/completion'] })
  noInjection({ payload }: InterceptorInvocation<{ messages: readonly Message[] }>) {
    return (
      !payload.messages.some(({ content }) => /ignore (all )?previous instructions/i.test(content)) ||
      deny('That looks like an injection', { path: 'messages' })
    );
  }

  @Mutator({ events: ['llm/completion'] })
  houseRules({ payload }: InterceptorInvocation<{ messages: readonly Message[] }>) {
    return { ...payload, messages: [{ role: 'system', content: 'Be brief.' }, ...payload.messages] };
  }

  @Mutator({ events: ['llm/completion'], phase: 'response' })
  hidePhones({ payload }: InterceptorInvocation<Message>) {
    return { ...payload, content: payload.content.replace(PHONE, '[phone]') };
  }
}
