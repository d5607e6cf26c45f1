/** Marks an error of a guard: it must not become a result of the handler. */
export class GuardDenied extends Error {
  constructor(override readonly cause: unknown) {
    super('Denied by a guard');
  }
}
