/** The scopes that a caller has, with those that they stand for. */
export type Scopes = ReadonlySet<string>;

/** @param implied the scopes that a broader one stands for */
export function impliedBy(
  implied: Readonly<Record<string, readonly string[]>>,
): (scopes: readonly string[]) => Scopes {
  const narrower = new Map(Object.entries(implied));
  return scopes => {
    const all = new Set(scopes);
    // A set gives its loop what is added meanwhile.
    for (const scope of all) for (const other of narrower.get(scope) ?? []) all.add(other);
    return all;
  };
}
