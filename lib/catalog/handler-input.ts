import type { Type } from '@nestjs/common';
import type { HandlerParam } from '../execution/handler-params.js';
import type { SchemaLike } from '../schema/types.js';

const SCALARS = new Map<unknown, string>([
  [String, 'string'],
  [Number, 'number'],
  [Boolean, 'boolean'],
]);

/** Types that TypeScript's metadata gives for anything that is no class of the author's. */
const UNTYPED = new Set<unknown>([
  undefined,
  Object,
  Array,
  Function,
  Promise,
  Map,
  Set,
  Symbol,
  BigInt,
  Date,
]);

const isDto = (type: unknown): type is Type => !UNTYPED.has(type) && !SCALARS.has(type);

/** The handlers that have an input. */
type InputOwner = 'tool' | 'prompt' | 'resource template';

/**
 * The input schema that a method's own signature declares: the class of its `@Args()` (or `@UriParams()`)
 * parameter or, for parameters taken by name, an object with one property each.
 */
export function inputOf(params: readonly HandlerParam[], owner: InputOwner): SchemaLike | undefined {
  const kind = owner === 'resource template' ? 'uri' : 'args';
  const own = params.filter(param => param.kind === kind);
  const whole = own.find(({ data }) => data === undefined);
  if (whole) return isDto(whole.metatype) ? whole.metatype : undefined;
  if (kind === 'uri' || own.length === 0) return undefined;

  const properties: Record<string, unknown> = {};
  const required: string[] = [];
  for (const { options, metatype } of own) {
    if (options === undefined) continue;
    properties[options.name] = {
      // A prompt's arguments are texts on the wire, whatever a pipe makes of them.
      ...propertySchema(owner === 'prompt' ? String : metatype),
      ...(options.description !== undefined && { description: options.description }),
    };
    if (options.optional !== true) required.push(options.name);
  }
  return { type: 'object', properties, required };
}

function propertySchema(type: unknown): object {
  const scalar = SCALARS.get(type);
  if (scalar !== undefined) return { type: scalar };
  if (type === Array) return { type: 'array' };
  return isDto(type) ? { type: 'object' } : {};
}
