import type { Type } from '@nestjs/common';
import { Validator } from '../decorators/interceptor.decorators.js';
import { COUNT, objectOf } from '../../options/option-schema.js';
import { allow, deny, type InterceptorInvocation, type ValidatorReturn } from '../authoring.js';
import { JsonSize, type Excess, type JsonLimits } from './json-size.js';
import { READY_MADE_VALIDATOR, readyMade, type ReadyMadeValidatorOptions } from './ready-made.js';

/** Options of `SizeLimit`. Defaults: name `size-limit`, all events, both phases, `final`. */
export interface SizeLimitOptions extends ReadyMadeValidatorOptions {
  /** Maximum bytes of the payload as JSON in UTF-8. Default: 1,000,000. */
  readonly maxBytes?: number;
  /** Maximum nesting of objects and arrays, up to 1,000. Default: 64. */
  readonly maxDepth?: number;
  /** Maximum number of values: texts, numbers, objects, arrays and others. Default: 100,000. */
  readonly maxNodes?: number;
}

export const SIZE_LIMIT = objectOf<SizeLimitOptions, ReadyMadeValidatorOptions & JsonLimits>({
  maxBytes: { ...COUNT, default: 1_000_000 },
  maxDepth: { type: 'integer', minimum: 0, maximum: 1000, default: 64 },
  maxNodes: { ...COUNT, default: 100_000 },
  ...READY_MADE_VALIDATOR,
});

/** The provider that `SizeLimit` creates. */
export interface SizeLimitInterceptor {
  check(invocation: InterceptorInvocation): ValidatorReturn;
}

const MESSAGES: Readonly<Record<Excess, (limit: string) => string>> = {
  maxBytes: limit => `The payload is larger than ${limit} bytes`,
  maxDepth: limit => `The payload is nested deeper than ${limit} levels`,
  maxNodes: limit => `The payload has more than ${limit} values`,
};

/**
 * A validator that denies a payload that is too large, too deep, or has too many values.
 *
 * @throws RangeError for a limit that is out of range, TypeError for any other wrong option
 * @example
 * ```ts
 * providers: [SizeLimit({ maxBytes: 100_000 })]
 * ```
 */
export function SizeLimit(options: SizeLimitOptions = {}): Type<SizeLimitInterceptor> {
  const defaults = { name: 'size-limit', events: ['*'], phase: 'both', final: true } as const;
  const { own: limits, declared, provider } = readyMade('SizeLimit', SIZE_LIMIT, options, defaults);

  class Limit implements SizeLimitInterceptor {
    @Validator(declared)
    check({ payload }: InterceptorInvocation): ValidatorReturn {
      const { excess } = new JsonSize(limits).add(payload);
      return excess ? deny(MESSAGES[excess](limits[excess].toLocaleString('en'))) : allow();
    }
  }
  return provider(Limit);
}
