import type { ClientContext, Request, Result } from '@modelcontextprotocol/client';
import { payloadCheck } from '../interceptors/messages/payload-check.js';
import { isProtocolError, unexpected } from '../server/errors.js';
import type { ClientBoundary } from './client-boundary.js';
import type { InputHandler, InputMethod } from './input-requests.js';

export interface InputBoundaryOptions {
  readonly name: string | undefined;
  readonly boundary: ClientBoundary;
  /** The negotiated revision. */
  readonly protocolVersion: () => string | undefined | Promise<string | undefined>;
}

/** A handler as the SDK's `setRequestHandler` takes one. */
export type GovernedInput = (request: Request, context: ClientContext) => Promise<Result>;

/**
 * Puts the chain around a handler of what a server asks. The SDK calls it for a request of its own (2025 revisions) as for one that an `input_required` result holds (2026-07-28).
 */
export function governInput<M extends InputMethod>(
  method: M,
  handler: InputHandler<M>,
  { name, boundary, protocolVersion }: InputBoundaryOptions,
): GovernedInput {
  return async ({ params = {} }, { mcpReq: { id: requestId, signal } }) => {
    // Nothing of what the handler is to decide on is in there.
    const { _meta, ...bare } = params as Record<string, unknown>;
    try {
      return await boundary.around(
        {
          method,
          way: 'in',
          params: bare,
          signal,
          protocolVersion: async () => protocolVersion(),
        },
        async payload => {
          const answer = await handler(payload, {
            client: name,
            requestId,
            signal,
          });
          const problem = payloadCheck(method, 'response')?.(answer);
          if (problem !== undefined) throw new TypeError(`The answer cannot be sent: ${problem}`);
          return answer;
        },
      );
    } catch (error) {
      // What is thrown from here reaches the server.
      if (isProtocolError(error)) throw error;
      const subject = `The answer to ${method}${name === undefined ? '' : ` by the client "${name}"`}`;
      throw Object.assign(unexpected(error, subject), { cause: error });
    }
  };
}
