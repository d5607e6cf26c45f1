/** Marks an error of a guard, so that it does not become a result of the handler. */
export class GuardDenied extends Error {
  constructor(override readonly cause: unknown) {
    super('Denied by a guard');
  }
}
