import { JsonSize } from '../library/json-size.js';
import { readDescriptor } from '../protocol/read-descriptor.js';
import type { InterceptorDescriptor } from '../protocol/types.js';
import type { InterceptorInvoker } from './invoker.js';

/** Limits of all pages together. */
const LISTING_LIMITS = { maxBytes: 4 * 1024 * 1024, maxDepth: 100, maxNodes: 500_000 };
const MAX_NAME_LENGTH = 256;
/** How much is kept of a description, in characters: nothing depends on it. */
const MAX_DESCRIPTION_LENGTH = 4096;
const MAX_WARNINGS = 10;

export interface ListAllOptions {
  readonly name: string;
  readonly maxInterceptors: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly warn: (message: string) => void;
}

export interface AdvertisedInterceptors {
  readonly descriptors: InterceptorDescriptor[];
  readonly ttlMs?: number;
}

/** @throws Error for a listing that is malformed or too large */
export async function listAll(
  invoker: InterceptorInvoker,
  { name, maxInterceptors, timeoutMs, signal, warn }: ListAllOptions,
): Promise<AdvertisedInterceptors> {
  const found = new Map<string, InterceptorDescriptor>();
  const skipped: string[] = [];
  const seen = new Set<string>();
  const size = new JsonSize(LISTING_LIMITS);
  let ttlMs: number | undefined;
  for (let cursor: string | undefined; ;) {
    const page = await invoker.list(cursor === undefined ? {} : { cursor }, { signal, timeoutMs });
    const { excess } = size.add(page);
    if (excess) throw new Error(`its listing exceeds ${excess}, which is ${LISTING_LIMITS[excess]}`);
    const { interceptors, nextCursor, ...own } = readPage(page);
    if (own.ttlMs !== undefined) ttlMs = Math.min(ttlMs ?? Infinity, own.ttlMs);
    if (found.size + skipped.length + interceptors.length > maxInterceptors) {
      throw new Error(`it advertises more than ${maxInterceptors}`);
    }
    for (const value of interceptors) {
      const read = readDescriptor(value);
      if (!read.ok) skipped.push(read.reason);
      else add(found, bounded(read.descriptor));
    }
    if (nextCursor === undefined) {
      warnOf(skipped, name, warn);
      return { descriptors: [...found.values()], ...(ttlMs !== undefined && { ttlMs }) };
    }
    if (seen.has(nextCursor)) throw new Error('its pages go round in a circle');
    cursor = nextCursor;
    seen.add(cursor);
    if (seen.size > maxInterceptors) throw new Error('its pages have no end');
  }
}

function readPage(page: unknown): { interceptors: unknown[]; ttlMs?: number; nextCursor?: string } {
  const { interceptors, ttlMs, nextCursor } = (page ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(interceptors)) throw new Error('its answer holds no list of interceptors');
  return {
    interceptors,
    ...(typeof ttlMs === 'number' && ttlMs >= 0 && { ttlMs }),
    ...(typeof nextCursor === 'string' && { nextCursor }),
  };
}

function add(found: Map<string, InterceptorDescriptor>, descriptor: InterceptorDescriptor): void {
  if (found.has(descriptor.name)) throw new Error(`it advertises "${descriptor.name}" twice`);
  found.set(descriptor.name, descriptor);
}

/** An interceptor without its name could not be asked, and leaving it out would let pass what it refuses. */
function bounded(descriptor: InterceptorDescriptor): InterceptorDescriptor {
  const { name, version = '', description } = descriptor;
  if (Math.max(name.length, version.length) > MAX_NAME_LENGTH) {
    throw new Error(`a name or a version of its interceptors has more than ${MAX_NAME_LENGTH} characters`);
  }
  return description === undefined || description.length <= MAX_DESCRIPTION_LENGTH
    ? descriptor
    : { ...descriptor, description: description.slice(0, MAX_DESCRIPTION_LENGTH) };
}

function warnOf(skipped: readonly string[], name: string, warn: ListAllOptions['warn']): void {
  for (const reason of skipped.slice(0, MAX_WARNINGS)) {
    warn(`An interceptor of "${name}" is skipped: ${reason}`);
  }
  const more = skipped.length - MAX_WARNINGS;
  if (more > 0) warn(`${more} more interceptors of "${name}" are skipped`);
}
