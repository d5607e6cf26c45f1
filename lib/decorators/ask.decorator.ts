import type { SchemaLike } from '../schema/types.js';
import { parameter } from './params.decorator.js';
import { ASK_PARAM } from './metadata.js';

export interface AskOptions {
  /** The question to the user; a function gets the validated arguments. */
  message: string | ((args: never) => string);
  /** A flat object. Default: the class of the parameter. */
  schema?: SchemaLike;
  /** If the user declines or dismisses the form: refuse the call, or pass `undefined`. Default: `refuse`. */
  onDecline?: 'refuse' | 'pass';
}

/**
 * A form that the user fills in before the handler runs (2026-07-28: basic/patterns/mrtr).
 * All forms of a handler are in one round.
 * @param key identifies the form in the handler
 */
export const Ask = (key: string, options: AskOptions): ParameterDecorator =>
  parameter(ASK_PARAM, { key, ...options });
