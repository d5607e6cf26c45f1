import type { Client } from '@modelcontextprotocol/client';
import type { Observer } from '../protocol/traffic.js';
import type { GovernedInput } from './client-boundary.js';
import type { InputMethod } from '../protocol/methods.js';

/** Observes the questions of a 2025 server. A 2026 server sends them as part of a result and not as requests. */
export const observedAnswer = (
  observer: Observer | undefined,
  client: Client,
  method: InputMethod,
  answer: GovernedInput,
): GovernedInput =>
  observer
    ? async (request, context) => {
        if (client.getProtocolEra() === 'modern') return answer(request, context);
        const { params } = request;
        const { id: requestId, signal } = context.mcpReq;
        const seen = observer.begin({
          method,
          params,
          meta: params?._meta,
          requestId,
          era: 'legacy',
          protocolVersion: client.getNegotiatedProtocolVersion(),
          sessionId: client.transport?.sessionId,
        });
        try {
          const result = await seen.run(() => answer(request, context));
          seen.end({ result });
          return result;
        } catch (error) {
          seen.end({ error, ...(signal.aborted && { aborted: 'cancelled' }) });
          throw error;
        }
      }
    : answer;
