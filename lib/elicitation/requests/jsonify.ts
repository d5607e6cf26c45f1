/** The type of `JSON.parse(JSON.stringify(value))`: a `Date` becomes a string, and methods are gone. */
export type Jsonify<T> =
  IsAny<T> extends true
    ? T
    : T extends { toJSON(): infer J }
      ? Jsonify<J>
      : T extends string | number | boolean | null | undefined
        ? T
        : T extends Unspoken
          ? undefined
          : T extends bigint
            ? never
            : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
              ? Record<string, never>
              : T extends readonly unknown[]
                ? { [K in keyof T]: JsonItem<T[K]> }
                : T extends object
                  ? { [K in keyof T as Spoken<K, T[K]>]: Jsonify<T[K]> }
                  : T;

type IsAny<T> = 0 extends 1 & T ? true : false;

/** JSON writes such an item as `null`. */
type JsonItem<T> = T extends undefined | Unspoken ? null : Jsonify<T>;

type Unspoken = symbol | ((...args: never[]) => unknown);

type Spoken<K, V> = K extends symbol ? never : V extends Unspoken ? never : K;
