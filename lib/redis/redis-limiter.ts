import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { LimiterOptions, SharedState } from '../stores/shared-state.js';
import type { RedisLink } from './redis-link.js';

/** A limiter whose counters are Redis keys that expire. */
export function redisLimiter(
  redis: RedisLink,
  prefix: string,
  { name, points, duration, blockDuration }: LimiterOptions,
): ReturnType<SharedState['limiter']> {
  const limiter = new RateLimiterRedis({
    // `ready` is read for each command, because each reconnection creates a new client.
    storeClient: {
      eval: (...script: Parameters<typeof redis.ready.eval>) => redis.ready.eval(...script),
      multi: () => redis.ready.multi(),
    },
    useRedisPackage: true,
    keyPrefix: `${prefix}limit:${name}`,
    points,
    duration,
    blockDuration,
  });
  return { consume: (key, taken) => redis.run(() => limiter.consume(key, taken)) };
}
