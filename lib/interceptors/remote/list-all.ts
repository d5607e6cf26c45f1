import { JsonSize } from '../library/json-size.js';
import { readDescriptor } from '../protocol/read-descriptor.js';
import type { InterceptorDescriptor, InvokeParams, ValidationMessage } from '../protocol/types.js';
import type { HostCallOptions, InterceptorInvoker } from './invoker.js';
import { isRecord } from '../../util/is-record.js';
import { readValidation } from '../protocol/read-result.js';
import { clipped } from '../../util/clipped.js';
import { defined } from '../../util/defined.js';

const LISTING_LIMITS = { maxBytes: 4 * 1024 * 1024, maxDepth: 100, maxNodes: 500_000 };
const MAX_NAME_LENGTH = 256;
/** Maximum characters of a description to keep. Descriptions have no effect. */
const MAX_DESCRIPTION_LENGTH = 4096;
const MAX_LINES = 10;

interface ListAllOptions extends HostCallOptions {
  readonly name: string;
  readonly maxInterceptors: number;
  readonly warn: (message: string) => void;
  /** Logs one line for each skipped interceptor. Default: only the warning names them. */
  readonly verbose?: (message: string) => void;
}

/** @throws Error for a listing that is malformed or too large */
export async function listAll(
  invoker: InterceptorInvoker,
  { name, maxInterceptors, timeoutMs, signal, warn, verbose }: ListAllOptions,
): Promise<{ descriptors: InterceptorDescriptor[]; ttlMs: number }> {
  const found = new Map<string, InterceptorDescriptor>();
  const skipped: string[] = [];
  const seen = new Set<string>();
  const size = new JsonSize(LISTING_LIMITS);
  let ttlMs = Infinity;
  for (let cursor: string | undefined; ;) {
    const page = await invoker.list(cursor === undefined ? {} : { cursor }, { signal, timeoutMs });
    const { excess } = size.add(page);
    if (excess) throw new Error(`its listing exceeds the limit "${excess}" of ${LISTING_LIMITS[excess]}`);
    const { interceptors, ttlMs: told, nextCursor } = (page ?? {}) as Readonly<Record<string, unknown>>;
    if (!Array.isArray(interceptors)) throw new Error('its answer does not contain a list of interceptors');
    if (typeof told === 'number' && told >= 0) ttlMs = Math.min(ttlMs, told);
    if (found.size + skipped.length + interceptors.length > maxInterceptors) {
      throw new Error(`it advertises more than ${maxInterceptors}`);
    }
    for (const value of interceptors) {
      const read = readDescriptor(value);
      if (!read.ok) {
        skipped.push(read.reason);
        continue;
      }
      const { name: own } = read.descriptor;
      if (found.has(own)) throw new Error(`it advertises "${own}" twice`);
      found.set(own, bounded(read.descriptor));
    }
    if (typeof nextCursor !== 'string') {
      logSkipped(skipped, name, warn, verbose);
      return { descriptors: [...found.values()], ttlMs };
    }
    if (seen.has(nextCursor)) throw new Error('its pages repeat a cursor');
    cursor = nextCursor;
    seen.add(cursor);
    if (seen.size > maxInterceptors) throw new Error('it has too many pages');
  }
}

/** An interceptor with a shortened name could not be invoked, and without it, messages that it refuses would pass. */
function bounded(descriptor: InterceptorDescriptor): InterceptorDescriptor {
  const { name, version = '', description } = descriptor;
  if (Math.max(name.length, version.length) > MAX_NAME_LENGTH) {
    throw new Error(`a name or a version of its interceptors has more than ${MAX_NAME_LENGTH} characters`);
  }
  return description === undefined || description.length <= MAX_DESCRIPTION_LENGTH
    ? descriptor
    : { ...descriptor, description: clipped(description, MAX_DESCRIPTION_LENGTH) };
}

function logSkipped(
  [first, ...others]: readonly string[],
  name: string,
  warn: ListAllOptions['warn'],
  verbose: ListAllOptions['verbose'],
): void {
  if (first === undefined) return;
  const sentence = (reason: string) => `An interceptor of "${name}" is skipped: ${reason}`;
  warn(others.length === 0 ? sentence(first) : `${sentence(first)}; and ${others.length} more`);
  for (const reason of others.slice(0, MAX_LINES)) verbose?.(sentence(reason));
}

const MAX_MESSAGES = 100;
const MAX_LENGTH = 2000;

/** @throws Error if a result names another interceptor or phase */
export function assertAnswers(result: unknown, asked: Pick<InvokeParams, 'name' | 'phase'>): void {
  if (!isRecord(result)) return;
  for (const told of [result, result['validation'], result['mutation']].filter(isRecord)) {
    const { interceptor, phase } = told;
    if (isTold(interceptor) && interceptor !== asked.name)
      throw new Error('its result is of another interceptor');
    if (isTold(phase) && phase !== asked.phase) throw new Error('its result is of another phase');
  }
}

export function boundedValidation(result: unknown): unknown {
  let read;
  try {
    // Read before shortening, because a message may set the severity of the whole result.
    read = readValidation(result);
  } catch {
    // The chain reports the error.
    return result;
  }
  const { messages = [], suggestions = [] } = read;
  if (messages.length <= MAX_MESSAGES && suggestions.length <= MAX_MESSAGES && messages.every(isShort)) {
    return result;
  }
  return {
    ...read,
    messages: messages.slice(0, MAX_MESSAGES).map(cut),
    suggestions: suggestions.slice(0, MAX_MESSAGES),
  };
}

const isShort = ({ path = '', message }: ValidationMessage): boolean =>
  Math.max(path.length, message.length) <= MAX_LENGTH;

const cut = ({ path, message, severity }: ValidationMessage): ValidationMessage =>
  defined({ path: path && cutText(path), message: cutText(message), severity });

const cutText = (text: string): string => (text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);

/** The Go SDK writes an unset value as an empty string. */
const isTold = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
