/** Whether a text is a scope (RFC 6749, 3.3), and so can stand in a challenge. */
export const isScope = (text: string): boolean => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text);

/** The scopes of a caller, with the scopes that they include. */
export type Scopes = ReadonlySet<string>;

/** @param implied the narrower scopes by the broader scope that includes them */
export function impliedBy(
  implied: Readonly<Record<string, readonly string[]>>,
): (scopes: readonly string[]) => Scopes {
  const narrower = new Map(Object.entries(implied));
  return scopes => {
    const all = new Set(scopes);
    // The loop also sees scopes that are added meanwhile.
    for (const scope of all) for (const other of narrower.get(scope) ?? []) all.add(other);
    return all;
  };
}
