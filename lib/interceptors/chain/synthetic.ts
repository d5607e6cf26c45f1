/**
 * What a request-phase mutator of this process answers with in place of the handler: the mutators after it do not run,
 * and the caller of the chain finds the response in its result.
 */
export class SyntheticResponse {
  constructor(readonly result: object) {}
}
