/** Adds to a list of the owner's own, as `@UseGuards` does: a decorator that is there twice must not lose the first. */
export function extendMetadata<T>(key: string, owner: object, added: readonly T[]): readonly T[] {
  const known = (Reflect.getOwnMetadata(key, owner) ?? []) as readonly T[];
  const all = [...known, ...added];
  Reflect.defineMetadata(key, all, owner);
  return all;
}
