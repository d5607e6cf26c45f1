import type { Type } from '@nestjs/common';
import { Validator } from '../../decorators/interceptor.decorators.js';
import { allow, deny, type InterceptorInvocation, type ValidatorReturn } from '../authoring.js';
import { JsonSize, type Excess, type JsonLimits } from './json-size.js';
import { readyMade, requireInteger, withDefaults, type ReadyMadeValidatorOptions } from './ready-made.js';

/** Options of `SizeLimit`. Defaults: name `size-limit`, all events, both phases, `final`. */
export interface SizeLimitOptions extends ReadyMadeValidatorOptions {
  /** Bytes of the payload as JSON in UTF-8. Default: 1,000,000. */
  readonly maxBytes?: number;
  /** Objects and arrays within each other, up to 1,000. Default: 64. */
  readonly maxDepth?: number;
  /** Values in all: texts, numbers, objects, arrays … Default: 100,000. */
  readonly maxNodes?: number;
}

/** What `SizeLimit` makes. */
export interface SizeLimitInterceptor {
  /** Denies a payload that is beyond a limit. */
  check(invocation: InterceptorInvocation): ValidatorReturn;
}

const MESSAGES: Readonly<Record<Excess, (limit: string) => string>> = {
  maxBytes: limit => `The payload is larger than ${limit} bytes`,
  maxDepth: limit => `The payload is nested deeper than ${limit} levels`,
  maxNodes: limit => `The payload has more than ${limit} values`,
};

/**
 * A validator that denies a payload that is too large, too deep, or has too many values. It measures without writing the
 * JSON, and stops at the first limit that is exceeded.
 *
 *     providers: [SizeLimit({ maxBytes: 100_000 })]
 *
 * @throws RangeError for a limit that is no whole number, TypeError for an option that there is not
 */
export function SizeLimit(options: SizeLimitOptions = {}): Type<SizeLimitInterceptor> {
  const rules = { maxBytes: null, maxDepth: null, maxNodes: null };
  const defaults = { name: 'size-limit', events: ['*'], phase: 'both', final: true } as const;
  const declared = withDefaults('SizeLimit', options, rules, defaults);
  const { maxBytes = 1_000_000, maxDepth = 64, maxNodes = 100_000 } = options;
  const limits: JsonLimits = {
    maxBytes: requireInteger('SizeLimit: maxBytes', maxBytes),
    maxDepth: requireInteger('SizeLimit: maxDepth', maxDepth, 0),
    maxNodes: requireInteger('SizeLimit: maxNodes', maxNodes),
  };
  if (maxDepth > 1000) throw new RangeError('SizeLimit: maxDepth must be 1,000 or less');

  class Limit implements SizeLimitInterceptor {
    @Validator(declared)
    check({ payload }: InterceptorInvocation): ValidatorReturn {
      const { excess } = new JsonSize(limits).add(payload);
      return excess ? deny(MESSAGES[excess](limits[excess].toLocaleString('en'))) : allow();
    }
  }
  return readyMade(Limit, 'SizeLimit', declared.name);
}
