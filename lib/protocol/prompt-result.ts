import { type GetPromptResult, type PromptMessage } from '@modelcontextprotocol/server';
import { assertSendable, IF_INTERCEPTED } from './unsendable.js';

/**
 * Converts a prompt's return value to the protocol's result. A string becomes one message of the user.
 * @throws Error for a value that is not a prompt
 */
export function toPromptResult(value: unknown, description: string | undefined): GetPromptResult {
  assertSendable(value);
  if (typeof value === 'object' && value !== null && 'messages' in value) return value as GetPromptResult;
  return { ...(description !== undefined && { description }), messages: toMessages(value) };
}

function toMessages(value: unknown): PromptMessage[] {
  if (typeof value === 'string') return [{ role: 'user', content: { type: 'text', text: value } }];
  if (Array.isArray(value)) return value as PromptMessage[];
  if (typeof value === 'object' && value !== null && 'role' in value) return [value as PromptMessage];
  throw new Error(`A prompt must return a string, messages or a GetPromptResult (${IF_INTERCEPTED})`);
}
