import { resolve } from '../../options/check-options.js';
import type { ObjectSchema } from '../../options/option-schema.js';

/**
 * Checks the options of a ready-made interceptor, and fills in the defaults: those that come from a configuration have no
 * types.
 * @throws RangeError for a number that is out of range, TypeError for an option that is unknown or of another kind
 */
export function checked<T extends object, F extends object>(
  factory: string,
  schema: ObjectSchema<T, F>,
  options: T,
): F {
  return resolve({ title: 'options', ...schema }, options, (problem, { value }) => {
    const Reason = typeof value === 'number' ? RangeError : TypeError;
    return new Reason(`${factory}: ${problem}`);
  });
}
