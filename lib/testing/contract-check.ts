/** A check of a contract, for any test runner: `it(check.name, check.run)`. */
export interface ContractCheck {
  readonly name: string;
  /** @throws AssertionError if the contract is broken */
  readonly run: () => Promise<void>;
}
