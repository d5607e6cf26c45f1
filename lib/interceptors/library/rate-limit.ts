import { Inject, type InjectionToken, Optional, type Type } from '@nestjs/common';
import { type RateLimiterAbstract, RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { UnavailableException } from '../../exceptions/unavailable.exception.js';
import { SHARED, type SharedState } from '../../stores/shared-state.js';
import { Validator } from '../decorators/interceptor.decorators.js';
import { problemOf } from '../../options/check-options.js';
import {
  COUNT,
  FUNCTION,
  listOf,
  objectOf,
  omit,
  oneOf,
  type OptionSchema,
} from '../../options/option-schema.js';
import { allow, type InterceptorInvocation, type ValidatorReturn } from '../authoring.js';
import { KeyBound, principalKeyOf, shortened, stateKeyOf } from './sessions.js';
import { READY_MADE_VALIDATOR, readyMade, type ReadyMadeValidatorOptions } from './ready-made.js';

export type RateLimitKey = 'principal' | 'session' | 'tool';

/** The method of a `rate-limiter-flexible` limiter that the validator uses. */
export type RateLimitStore = Pick<RateLimiterAbstract, 'consume'>;

/** Options of `RateLimit`. Defaults: name `rate-limit`, event `tools/call`. */
export interface RateLimitOptions extends Omit<ReadyMadeValidatorOptions, 'phase' | 'hooks' | 'final'> {
  /** Points in every `duration`. Default: 60. */
  readonly points?: number;
  /** Seconds. Default: 60. */
  readonly duration?: number;
  /** Seconds that a key is blocked after it ran out of points. Default: until the duration ends. */
  readonly blockDuration?: number;
  /**
   * The attributes that calls are counted by, or a function that returns a key for each call. Calls without an
   * attribute share one counter: all callers without an id are one `principal`, even with several sessions. Default:
   * `principal`.
   */
  readonly key?: RateLimitKey | readonly RateLimitKey[] | ((invocation: InterceptorInvocation) => string);
  /** Points per call; with `McpRedisModule`, only whole numbers. Default: 1. */
  readonly cost?: number | ((invocation: InterceptorInvocation) => number);
  /**
   * A limiter of `rate-limiter-flexible`, or the token of its provider. Default: `RateLimiterMemory`, in this process;
   * with `McpRedisModule`, `RateLimiterRedis`.
   */
  readonly limiter?: RateLimitStore | InjectionToken<RateLimitStore>;
  /**
   * Maximum keys that the default limiter counts separately, also for each of 100 invokers; further keys share a
   * counter. Default: 100,000.
   */
  readonly maxKeys?: number;
}

const KEY = oneOf('principal', 'session', 'tool');

const COST: OptionSchema = { type: 'number', minimum: 0 };

type FilledRateLimit = RateLimitOptions &
  Required<Pick<RateLimitOptions, 'points' | 'duration' | 'key' | 'cost' | 'maxKeys'>>;

export const RATE_LIMIT = objectOf<RateLimitOptions, FilledRateLimit>({
  points: { ...COUNT, default: 60 },
  duration: { ...COUNT, default: 60 },
  blockDuration: { type: 'integer', minimum: 0, description: 'whole seconds, 0 or more' },
  key: {
    anyOf: [FUNCTION, listOf(KEY, undefined, 1), KEY],
    default: 'principal',
    description: '"principal", "session" or "tool", a list of them, or a function',
  },
  cost: { anyOf: [FUNCTION, COST], default: 1, description: 'a number, 0 or more, or a function' },
  limiter: { description: 'a limiter, or the token of its provider' },
  maxKeys: { ...COUNT, default: 100_000 },
  ...omit(READY_MADE_VALIDATOR, 'phase', 'hooks', 'final'),
});

/** The provider that `RateLimit` creates. Its check rejects if the store of the limiter fails. */
export interface RateLimitInterceptor {
  check(invocation: InterceptorInvocation): Promise<ValidatorReturn>;
}

/**
 * A validator that denies calls beyond a limit, and returns the delay before the next attempt (`info.retryAfterMs`). If
 * the store of the limiter fails, the call is refused with HTTP 503, unless `failOpen` is true. With `McpRedisModule`, each
 * node counts alone while Redis is gone. With `expose`, counters are kept per invoking principal.
 *
 * @throws RangeError for a number that is out of range, TypeError for any other wrong option
 * @example
 * ```ts
 * providers: [RateLimit({ points: 100, duration: 60, key: ['principal', 'tool'] })]
 * ```
 */
export function RateLimit(options: RateLimitOptions = {}): Type<RateLimitInterceptor> {
  const { own, declared, provider } = readyMade('RateLimit', RATE_LIMIT, options, {
    name: 'rate-limit',
    events: ['tools/call'],
  });
  const { limiter, points, duration, blockDuration, cost, maxKeys } = own;
  const keyOf = keyFunction(own.key);
  const limits = { name: declared.name, points, duration, blockDuration };
  const lifeMs = 1000 * Math.max(duration, blockDuration ?? 0);
  const token = isInstance(limiter) ? undefined : limiter;

  class Limit implements RateLimitInterceptor {
    limiter?: RateLimitStore = isInstance(limiter) ? limiter : undefined;
    readonly shared?: SharedState;
    private readonly bound = limiter === undefined ? new KeyBound(maxKeys, lifeMs) : undefined;

    @Validator({ ...declared, phase: 'request', sideEffects: 'some' })
    async check(invocation: InterceptorInvocation): Promise<ValidatorReturn> {
      const key = stateKeyOf(invocation, shortened(keyOf(invocation)));
      const taken = typeof cost === 'function' ? cost(invocation) : cost;
      if (problemOf(COST, taken))
        throw new RangeError(`"cost" must return a number of points, 0 or more, not ${taken}`);
      try {
        await this.counter().consume(this.bound?.admit(key) ?? key, taken);
        return allow();
      } catch (error) {
        if (isRefusal(error)) return refused(error.msBeforeNext);
        throw new UnavailableException(error);
      }
    }

    /** Created on demand, because Nest injects the shared state after the constructor. */
    private counter(): RateLimitStore {
      return (this.limiter ??= this.shared?.limiter(limits) ?? new RateLimiterMemory(limits));
    }
  }
  if (token !== undefined) Inject(token)(Limit.prototype, 'limiter');
  Optional()(Limit.prototype, 'shared');
  Inject(SHARED)(Limit.prototype, 'shared');
  return provider(Limit);
}

function refused(msBeforeNext: number): ValidatorReturn {
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return {
    valid: false,
    severity: 'error',
    messages: [{ message: `Too many requests: try again in ${seconds} s`, severity: 'error' }],
    info: { retryAfterMs: Math.max(0, Math.ceil(msBeforeNext)) },
  };
}

function keyFunction(
  key: NonNullable<RateLimitOptions['key']>,
): (invocation: InterceptorInvocation) => string {
  if (typeof key === 'function') return key;
  const parts = typeof key === 'string' ? [key] : key;
  return invocation => JSON.stringify(parts.map(part => PARTS[part](invocation) ?? null));
}

const PARTS: Readonly<Record<RateLimitKey, (invocation: InterceptorInvocation) => unknown>> = {
  principal: ({ context }) => principalKeyOf(context),
  session: ({ context }) => context?.sessionId,
  tool: ({ payload }) => (payload as { readonly name?: unknown } | undefined)?.name,
};

const isInstance = (limiter: RateLimitOptions['limiter']): limiter is RateLimitStore =>
  typeof limiter === 'object' && limiter !== null;

/** The library rejects with a result if no points are left, and with an error if its store fails. */
const isRefusal = (error: unknown): error is RateLimiterRes =>
  typeof error === 'object' &&
  error !== null &&
  !(error instanceof Error) &&
  typeof (error as Partial<RateLimiterRes>).msBeforeNext === 'number';
