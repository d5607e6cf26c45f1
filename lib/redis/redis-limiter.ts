import { RateLimiterMemory, RateLimiterRedis, type RateLimiterRes } from 'rate-limiter-flexible';
import type { LimiterOptions, SharedState } from '../stores/shared-state.js';
import { RedisUnavailable, type RedisLink } from './redis-link.js';

/** The part of all points that a node takes at a time, so that most calls need no command. */
const BLOCK = 1 / 100;

/** Maximum keys of which a node keeps points. */
const MAX_BLOCKS = 10_000;

/** Points that a node has taken, and not used yet. */
interface Block {
  left: number;
  /** Milliseconds since 1970. */
  readonly expires: number;
  readonly result: RateLimiterRes;
}

/**
 * A limiter whose counters are Redis keys that expire. Up to half of its points, a node takes them in blocks. While Redis
 * is not available, each node counts alone.
 */
export function redisLimiter(
  redis: RedisLink,
  prefix: string,
  { name, points, duration, blockDuration }: LimiterOptions,
): ReturnType<SharedState['limiter']> {
  const limits = { points, duration, blockDuration };
  const shared = new RateLimiterRedis({
    // `ready` is read for each command, because each reconnection creates a new client.
    storeClient: {
      eval: (...script: Parameters<typeof redis.ready.eval>) => redis.ready.eval(...script),
      multi: () => redis.ready.multi(),
    },
    useRedisPackage: true,
    keyPrefix: `${prefix}limit:${name}`,
    ...limits,
  });
  const alone = new RateLimiterMemory(limits);
  const size = Math.floor(points * BLOCK);
  const blocks = new Map<string, Block>();
  /** The keys of which a block is being taken. */
  const taking = new Set<string>();

  const consume = async (key: string, taken = 1): Promise<RateLimiterRes> => {
    const kept = blocks.get(key);
    const now = Date.now();
    if (kept && kept.expires > now && kept.left >= taken) {
      kept.left -= taken;
      return kept.result;
    }
    const isEarly = kept && kept.expires > now && kept.result.remainingPoints > points / 2;
    const further = isEarly && !taking.has(key) ? Math.max(0, size - taken) : 0;
    if (further > 0) taking.add(key);
    const consumed = redis.run(() => shared.consume(key, taken + further));
    const result = await consumed.finally(() => further > 0 && taking.delete(key));
    const left = further + leftOf(blocks.get(key));
    blocks.delete(key);
    if (size > 1) blocks.set(key, { left, expires: now + result.msBeforeNext, result });
    const [oldest] = blocks.size > MAX_BLOCKS ? blocks.keys() : [];
    if (oldest !== undefined) blocks.delete(oldest);
    return result;
  };
  return {
    consume: async (key, taken) => {
      try {
        return await consume(String(key), taken);
      } catch (error) {
        if (error instanceof RedisUnavailable) return alone.consume(key, taken);
        throw error;
      }
    },
  };
}

const leftOf = (block: Block | undefined): number => (block && block.expires > Date.now() ? block.left : 0);
