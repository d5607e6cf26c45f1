import type { Type } from '@nestjs/common';
import { defined } from '../../util/defined.js';
import { isRecord } from '../../util/is-record.js';

/** The keys of `@nestjs/swagger`, which is optional. */
const PROPERTIES = 'swagger/apiModelPropertiesArray';
const PROPERTY = 'swagger/apiModelProperties';
const SCHEMA = 'swagger/apiSchema';
const EXTRA_MODELS = 'swagger/apiExtraModels';
/** The static method that the swagger plugin adds to a class. */
const FACTORY = '_OPENAPI_METADATA_FACTORY';

/** What swagger says of a property: the options of `@ApiProperty()`. */
export type SwaggerProperty = Readonly<Record<string, unknown>> & {
  /** A class, a function that returns it (in a list for a list), or the name of a JSON type. */
  readonly type?: unknown;
  readonly isArray?: boolean;
  /** Default: true. */
  readonly required?: boolean;
};

/** The properties of a class with `@ApiProperty()` and the like, or found by the swagger plugin. */
export function swaggerProperties(type: Type<unknown>): ReadonlyMap<string, SwaggerProperty> {
  const prototype = type.prototype as object;
  const found = new Map<string, SwaggerProperty>();
  const names = (Reflect.getMetadata(PROPERTIES, prototype) ?? []) as readonly string[];
  for (const name of names.map(key => key.slice(1))) {
    found.set(name, Reflect.getMetadata(PROPERTY, prototype, name) as SwaggerProperty);
  }
  // A decorator says more than the plugin, and a class more than its parent.
  for (const [name, property] of Object.entries(fromPlugin(type))) {
    found.set(name, { ...property, ...defined(found.get(name) ?? {}) });
  }
  return found;
}

/** The title and the description of `@ApiSchema()`. */
export function swaggerClass(type: Type<unknown>): {
  readonly description?: string;
  readonly title?: string;
} {
  const [options] = (Reflect.getOwnMetadata(SCHEMA, type) ?? []) as { name?: string; description?: string }[];
  if (!options) return {};
  return defined({ title: options.name, description: options.description });
}

/** The classes of `@ApiExtraModels()`, to which schemas refer by name. */
export const extraModels = (type: Type<unknown>): readonly Type<unknown>[] =>
  (Reflect.getMetadata(EXTRA_MODELS, type) ?? []) as readonly Type<unknown>[];

function fromPlugin(type: Type<unknown>): Record<string, SwaggerProperty> {
  const parent = Object.getPrototypeOf(type) as Type<unknown> | null;
  const inherited = typeof parent === 'function' && parent !== Function.prototype ? fromPlugin(parent) : {};
  const factory = Object.getOwnPropertyDescriptor(type, FACTORY)?.value as (() => unknown) | undefined;
  const own: unknown = factory?.call(type);
  return isRecord(own) ? { ...inherited, ...(own as Record<string, SwaggerProperty>) } : inherited;
}
