import { inputResponse } from '@modelcontextprotocol/server';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';
import type { Exchange } from '../server/exchange.js';
import type { Journal } from './journal.js';

/** An exchange whose answers have passed the chain, whatever was asked. */
export async function withAnswersReceived({ receive, ...exchange }: Exchange): Promise<Exchange> {
  const { inputResponses } = exchange;
  return receive && inputResponses
    ? { ...exchange, inputResponses: await receive(inputResponses) }
    : exchange;
}

/**
 * An exchange with the answers to what was asked. Others are nobody's: no interceptor has looked at them.
 * @throws McpException (-32602) for what is no answer, or one that an interceptor refuses
 */
export async function withAnswersAsked(exchange: Exchange, journal: Journal | undefined): Promise<Exchange> {
  const { inputResponses, malformedResponses = [] } = exchange;
  if (!inputResponses) return exchange;
  const asked = new Set([...Object.keys(journal?.open ?? {}), ...(journal?.asked ?? [])]);
  const isAsked = (key: string) => asked.has(key);
  const answers = Object.fromEntries(Object.entries(inputResponses).filter(([key]) => isAsked(key)));
  const isMalformed = (key: string) => inputResponse(answers, key).kind === 'missing';
  if (malformedResponses.some(isAsked) || Object.keys(answers).some(isMalformed)) {
    throw new McpException(McpErrorCode.InvalidParams, 'An answer cannot be used: it is in no known form');
  }
  return withAnswersReceived({ ...exchange, inputResponses: answers });
}
