/** Appends to a metadata list of the owner, as `@UseGuards` does, so that applying a decorator twice keeps both. */
export function extendMetadata<T>(key: string, owner: object, added: readonly T[]): readonly T[] {
  const known = (Reflect.getOwnMetadata(key, owner) ?? []) as readonly T[];
  const all = [...known, ...added];
  Reflect.defineMetadata(key, all, owner);
  return all;
}
