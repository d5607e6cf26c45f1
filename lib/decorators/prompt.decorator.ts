import { declareHandler } from './handler-metadata.js';
import type { PromptOptions } from './handler-options.js';

/**
 * Makes a provider's method an MCP prompt. It may return a string (one user message), a list of messages
 * or a `GetPromptResult`.
 *
 * Specification: server/prompts.
 */
export const Prompt = (options: PromptOptions = {}): MethodDecorator =>
  declareHandler({ kind: 'prompt', options });
