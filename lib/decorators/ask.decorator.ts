import type { SchemaLike } from '../schema/types.js';
import { parameter } from './params.decorator.js';
import { ASK_PARAM } from './metadata.js';

/** Options of `@Ask`. */
export interface AskOptions {
  /** What the user is asked; a function is given the handler's validated arguments. */
  message: string | ((args: never) => string);
  /** What the user fills in: a flat object. Default: the class that the parameter is declared as. */
  schema?: SchemaLike;
  /**
   * What becomes of a form that the user declines or dismisses: the call ends with a refusal, or the handler is called
   * with `undefined`. Default: `refuse`.
   */
  onDecline?: 'refuse' | 'pass';
}

/**
 * What the user fills into a form, before the handler is called (2026-07-28: basic/patterns/mrtr). All forms of a handler
 * are shown in one round, and the handler runs once, when every answer is there.
 * @param key names the form among those of the handler
 */
export const Ask = (key: string, options: AskOptions): ParameterDecorator =>
  parameter(ASK_PARAM, { key, ...options });
