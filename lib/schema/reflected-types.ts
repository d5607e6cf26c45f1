import type { JsonSchema } from './types.js';

/** The schemas of the types that TypeScript reflects. It does not reflect unions and interfaces. */
export const REFLECTED_TYPES: ReadonlyMap<unknown, JsonSchema> = new Map<unknown, JsonSchema>([
  [String, { type: 'string' }],
  [Number, { type: 'number' }],
  [Boolean, { type: 'boolean' }],
  [Date, { type: 'string', format: 'date-time' }],
]);
