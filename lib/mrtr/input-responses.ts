import type { McpCall } from '../protocol/mcp-call.js';
import { readKind } from '../input/input-request.js';
import type { Journal } from './replay/journal.js';

/** Lets the answers pass the interceptors. */
export async function withAnswersReceived({ receive, ...call }: McpCall): Promise<McpCall> {
  const { inputResponses } = call;
  return receive && inputResponses ? { ...call, inputResponses: await receive(inputResponses) } : call;
}

/** Drops answers to anything that was not asked, before interceptors see them. @throws McpException (-32602) */
export async function withAnswersAsked(call: McpCall, journal: Journal | undefined): Promise<McpCall> {
  const { inputResponses, malformedResponses = [] } = call;
  if (!inputResponses) return call;
  const open = Object.entries(journal?.open ?? {}).map(([key, { method }]) => [key, method] as const);
  const asked = new Map([...open, ...Object.entries(journal?.asked ?? {})]);
  const answers: Record<string, unknown> = {};
  for (const [key, method] of asked) {
    if (malformedResponses.includes(key)) readKind(method, undefined);
    if (!Object.hasOwn(inputResponses, key)) continue;
    readKind(method, inputResponses[key]);
    answers[key] = inputResponses[key];
  }
  return withAnswersReceived({ ...call, inputResponses: answers });
}
