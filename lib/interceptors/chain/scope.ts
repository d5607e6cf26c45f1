import { createPatch, type Operation } from 'rfc6902';
import type { MutationScope } from './entry.js';

/** What a request is for may not be changed by the way, unless a mutator's scope allows it by name. */
const IDENTITY = ['/name', '/uri'];

/** The difference of two payloads as a JSON Patch (RFC 6902). */
export const diffOf = (before: unknown, after: unknown): Operation[] => createPatch(before, after);

/** The first place that a mutation changed although its scope does not let it. */
export function breachOf(
  before: unknown,
  after: unknown,
  { allow, deny = [] }: MutationScope = {},
  isRequest: boolean,
): string | undefined {
  const denied = [...deny, ...(isRequest ? IDENTITY.filter(path => !allow?.includes(path)) : [])];
  if (allow === undefined && denied.every(path => sameAt(before, after, path))) return undefined;
  return diffOf(before, after)
    .map(({ path }) => path)
    .find(
      path =>
        denied.some(place => touches(path, place)) || (allow && !allow.some(place => within(path, place))),
    );
}

function sameAt(before: unknown, after: unknown, path: string): boolean {
  const [a, b] = [at(before, path), at(after, path)];
  return a === b || createPatch(a, b).length === 0;
}

const at = (value: unknown, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (node, token) =>
        typeof node === 'object' && node !== null && Object.hasOwn(node, token)
          ? (node as Record<string, unknown>)[token]
          : undefined,
      value,
    );

const within = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);
/** A change above a place changes the place, too. */
const touches = (path: string, place: string): boolean => within(path, place) || within(place, path);
