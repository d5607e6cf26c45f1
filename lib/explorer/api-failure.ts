/** A request of the page that is answered with an `ApiError`. */
export class ApiFailure extends Error {
  /** @param status HTTP status */
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}
