/** A request of the page that is answered with an `ApiError`, on both sides. */
export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}
