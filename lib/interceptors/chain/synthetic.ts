/** Both builds of the package, for `require` and for `import`, can be loaded in one process. */
const BRAND = Symbol.for('nestjs-mcp:synthetic-response');

/** Answers in place of the handler; later mutators do not run. */
export class SyntheticResponse {
  readonly [BRAND] = true;

  constructor(readonly result: object) {}

  static is(value: unknown): value is SyntheticResponse {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
