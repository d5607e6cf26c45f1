import type { NamedArgument, Place, RouteArgument } from './route-types.js';

const WORDS: Readonly<Record<Place, string>> = {
  path: 'the path',
  query: 'the query',
  body: 'the body',
};

/** Names the arguments of a route, whose parameters can have equal names. */
export class ArgumentNames {
  private readonly taken = new Map<string, RouteArgument>();
  private readonly unused: Set<string>;

  /** @param renamed the option `params` */
  constructor(private readonly renamed: Readonly<Record<string, string>> = {}) {
    this.unused = new Set(Object.keys(renamed));
  }

  /** @throws Error for a name that another argument has */
  named(argument: RouteArgument): NamedArgument {
    const { place, key = 'body' } = argument;
    const name = this.rename(`${place}.${key}`) ?? this.rename(key) ?? key;
    const other = this.taken.get(name);
    if (other) {
      throw new Error(
        `${WORDS[other.place]} and ${WORDS[place]} both have "${name}", but the arguments of a tool are one object: rename one, as in @Tool({ params: { ${JSON.stringify(`${other.place}.${name}`)}: "${other.place}${name[0].toUpperCase()}${name.slice(1)}" } })`,
      );
    }
    this.taken.set(name, argument);
    return { ...argument, name };
  }

  /** @throws Error for an entry of the option that renames nothing */
  assertUsed(): void {
    const [first] = this.unused;
    if (first !== undefined) throw new Error(`"params" renames "${first}", which the route does not have`);
  }

  private rename(key: string): string | undefined {
    // The first parameter takes the name. Those after it keep theirs.
    if (!this.unused.delete(key)) return undefined;
    return this.renamed[key];
  }
}
