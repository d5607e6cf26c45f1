/** A global symbol, because one process can load both builds of the package (`require` and `import`). */
const BRAND = Symbol.for('nestjs-mcp:synthetic-response');

/** Answers instead of the handler; later mutators do not run. */
export class SyntheticResponse {
  readonly [BRAND] = true;

  constructor(readonly result: object) {}

  static is(value: unknown): value is SyntheticResponse {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
