/** Both builds of the package, for `require` and for `import`, can be loaded in one process. */
const BRAND = Symbol.for('nestjs-mcp:synthetic-response');

/**
 * What a request-phase mutator of this process answers with in place of the handler: the mutators after it do not run,
 * and the caller of the chain finds the response in its result.
 */
export class SyntheticResponse {
  readonly [BRAND] = true;

  constructor(readonly result: object) {}

  static is(value: unknown): value is SyntheticResponse {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
