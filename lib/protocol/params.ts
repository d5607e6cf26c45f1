import { checkUri } from './check-uri.js';
import type { Params } from './mcp-call.js';
import { McpErrorCode, McpException } from '../exceptions/mcp.exception.js';

/**
 * Maximum number of values in the arguments of a call, at all depths. The time of validators grows with it, some of it
 * faster than linearly, and blocks the process.
 */
const MAX_ARGUMENT_VALUES = 10_000;

/** @throws McpException (-32602) if the field is missing or not a string */
export function requireString(params: Params, member: string): string {
  const value = params[member];
  if (typeof value !== 'string') {
    throw new McpException(McpErrorCode.InvalidParams, `Invalid params: "${member}" must be a string`);
  }
  return value;
}

/** @throws McpException (-32602) if the value is not an object */
export function asObject(value: unknown, member: string): Params {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new McpException(McpErrorCode.InvalidParams, `Invalid params: "${member}" must be an object`);
  }
  return value as Params;
}

/** Shortens a client's text for an error message. */
export const shorten = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text);

/** @throws McpException (-32602) if the URI is missing or malformed */
export function requireUri(params: Params): string {
  const uri = requireString(params, 'uri');
  const problem = checkUri(uri);
  if (problem === undefined) return uri;
  throw new McpException(McpErrorCode.InvalidParams, `Malformed resource URI: ${problem}`);
}

/** The resources that a `subscriptions/listen` names, each once. */
export function listenedUris({ notifications }: Params): string[] {
  const { resourceSubscriptions } = (notifications ?? {}) as { resourceSubscriptions?: unknown };
  const uris = Array.isArray(resourceSubscriptions) ? (resourceSubscriptions as unknown[]) : [];
  return [...new Set(uris)].filter(uri => typeof uri === 'string');
}

/**
 * The arguments of a call, without fields called `__proto__`.
 * @throws McpException (-32602) if they are not an object, or hold too many values
 */
export function argumentsOf(params: Params): Params {
  const args = asObject(params['arguments'] ?? {}, 'arguments');
  const { count, hasOwnProto } = look(args, MAX_ARGUMENT_VALUES);
  if (count <= MAX_ARGUMENT_VALUES) return hasOwnProto ? copyWithoutProto(args) : args;
  throw new McpException(
    McpErrorCode.InvalidParams,
    `Invalid params: "arguments" may hold at most ${MAX_ARGUMENT_VALUES} values`,
  );
}

/** Removes fields called `__proto__`, which `JSON.parse` creates and which would change the prototype of a copy. */
export const withoutOwnProto = <T extends object>(data: T): T =>
  look(data, Infinity).hasOwnProto ? copyWithoutProto(data) : data;

const copyWithoutProto = <T extends object>(data: T): T =>
  JSON.parse(JSON.stringify(data), (key, value: unknown) => (key === PROTO ? undefined : value)) as T;

const PROTO = '__proto__';

/** Counts values up to a limit. It does not recurse, because a client decides how deep the values are nested. */
function look(root: object, limit: number): { count: number; hasOwnProto: boolean } {
  const pending: object[] = [root];
  let count = 0;
  let hasOwnProto = false;
  for (let value = pending.pop(); value !== undefined && count <= limit; value = pending.pop()) {
    // `for … in` would first make a text of each index of a list.
    if (Array.isArray(value)) {
      count += value.length;
      if (count > limit) break;
      for (const child of value as unknown[]) {
        if (typeof child === 'object' && child !== null) pending.push(child);
      }
      continue;
    }
    for (const key in value) {
      count += 1;
      if (count > limit) break;
      if (key === PROTO) hasOwnProto = true;
      const child = (value as Params)[key];
      if (typeof child === 'object' && child !== null) pending.push(child);
    }
  }
  return { count, hasOwnProto };
}
