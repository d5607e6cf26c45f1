import { MAX_TIMER_MS } from '../util/max-timer.js';

export interface OptionSchema {
  readonly type?: 'string' | 'boolean' | 'integer' | 'number' | 'object' | 'array' | 'function';
  readonly enum?: readonly unknown[];
  readonly instanceOf?: abstract new (...args: never[]) => unknown;
  /** The value must satisfy the first alternative of its kind. */
  readonly anyOf?: readonly OptionSchema[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** Counted without surrounding white space. */
  readonly minLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly items?: OptionSchema;
  /** Without `additionalProperties`, other options are refused. */
  readonly properties?: Readonly<Record<string, OptionSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: OptionSchema;
  /** Used as it is, not copied. */
  readonly default?: unknown;
  /** Completes "must be" in messages. Default: derived from the keywords. */
  readonly description?: string;
  /** Names the object in messages. */
  readonly title?: string;
  /** A condition that the keywords cannot express; `description` says it. */
  readonly accepts?: (value: never) => boolean;
  /** Returns a sentence if a condition is violated. `name` quotes the object or an option. */
  readonly problem?: (value: never, name: (key?: string) => string) => string | undefined;
}

/** An option that is always set in `F` needs a default. */
export type OptionSchemas<T, F = T> = {
  readonly [K in keyof T]-?: OptionSchema &
    (undefined extends T[K]
      ? K extends keyof F
        ? undefined extends F[K]
          ? unknown
          : { readonly default: unknown }
        : unknown
      : unknown);
};

/** `F` is the type of the options with defaults. The field `~filled` only carries the type. */
export type ObjectSchema<T, F = T> = Omit<OptionSchema, 'properties'> & {
  readonly properties: OptionSchemas<T, F>;
  readonly '~filled'?: F;
};

export const objectOf = <T extends object, F extends object = T>(
  properties: OptionSchemas<T, F>,
  more?: Omit<OptionSchema, 'properties'>,
): ObjectSchema<T, F> => ({ type: 'object', properties, ...more });

export function pick<S extends object, K extends keyof S>(schemas: S, ...names: readonly K[]): Pick<S, K> {
  return Object.fromEntries(names.map(name => [name, schemas[name]])) as Pick<S, K>;
}

export function omit<S extends object, K extends keyof S>(schemas: S, ...names: readonly K[]): Omit<S, K> {
  const { ...left } = schemas;
  for (const name of names) delete left[name];
  return left;
}

export const listOf = (items: OptionSchema, description?: string, minItems = 0): OptionSchema => ({
  type: 'array',
  items,
  minItems,
  ...(description !== undefined && { description }),
});

export const oneOf = (...values: readonly unknown[]): OptionSchema => ({ enum: values });

export const TEXT: OptionSchema = { type: 'string', minLength: 1 };
export const TEXTS: OptionSchema = {
  anyOf: [TEXT, listOf(TEXT, undefined, 1)],
  description: 'a text that is not empty, or a list of some',
};
export const FLAG: OptionSchema = { type: 'boolean' };
export const COUNT: OptionSchema = { type: 'integer', minimum: 1 };
/** Duration in milliseconds. Longer timers would fire at once. */
export const TIME: OptionSchema = { ...COUNT, maximum: MAX_TIMER_MS };
export const OBJECT: OptionSchema = { type: 'object' };
export const FUNCTION: OptionSchema = { type: 'function' };
export const HTTP_URL: OptionSchema = {
  accepts: (value: unknown) =>
    (typeof value === 'string' || value instanceof URL) &&
    URL.canParse(String(value)) &&
    /^https?:$/.test(new URL(value).protocol),
  description: 'an absolute URL with http or https, such as "https://example.com/mcp"',
};
