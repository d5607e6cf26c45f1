import { declareHandler } from './handler-metadata.js';
import type { CompletionOptions } from './handler-options.js';

/**
 * Makes a provider's method complete one argument of a prompt or one variable of a resource template.
 * It is called with the text so far and the arguments chosen already, and returns strings; at most 100 are sent.
 * Arguments whose schema is an enumeration are completed without it. The guards of the prompt or resource template decide
 * first, then the method's own.
 *
 * Specification: server/utilities/completion.
 */
export const Completion = (options: CompletionOptions): MethodDecorator =>
  declareHandler({ kind: 'completion', options });
