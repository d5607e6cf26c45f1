/** Marks an error that a guard let out: the caller may not call, so it is no result of the handler's. */
export class GuardDenied extends Error {
  constructor(override readonly cause: unknown) {
    super('Denied by a guard');
  }
}
