import type { Exchange } from '../server/exchange.js';
import { readKind } from './input-request.js';
import type { Journal } from './replay/journal.js';

/** An exchange whose answers have passed the chain, whatever was asked. */
export async function withAnswersReceived({ receive, ...exchange }: Exchange): Promise<Exchange> {
  const { inputResponses } = exchange;
  return receive && inputResponses
    ? { ...exchange, inputResponses: await receive(inputResponses) }
    : exchange;
}

/**
 * An exchange with the answers to what was asked. Answers to anything else are dropped, before interceptors see them.
 * @throws McpException (-32602) for an answer of another kind than its question, or one that an interceptor refuses
 */
export async function withAnswersAsked(exchange: Exchange, journal: Journal | undefined): Promise<Exchange> {
  const { inputResponses, malformedResponses = [] } = exchange;
  if (!inputResponses) return exchange;
  const open = Object.entries(journal?.open ?? {}).map(([key, { method }]) => [key, method] as const);
  const asked = new Map([...open, ...Object.entries(journal?.asked ?? {})]);
  const answers: Record<string, unknown> = {};
  for (const [key, method] of asked) {
    if (malformedResponses.includes(key)) readKind(method, undefined);
    if (!Object.hasOwn(inputResponses, key)) continue;
    readKind(method, inputResponses[key]);
    answers[key] = inputResponses[key];
  }
  return withAnswersReceived({ ...exchange, inputResponses: answers });
}
