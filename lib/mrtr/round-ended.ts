/**
 * Rejects a question whose answer only the client's next round can bring. Handlers let it pass.
 * @internal
 */
export class RoundEnded extends Error {
  constructor() {
    super('The round ends here: the answer comes with the next one');
    ignoreUnhandled();
  }
}

let isIgnoring = false;

/**
 * A handler may hold a promise that it would have awaited later, and that the end of the round has rejected meanwhile.
 * That is no failure, and must not end the process, as Node would have it. Whatever else is rejected and not handled does
 * what it would do without this listener.
 */
function ignoreUnhandled(): void {
  if (isIgnoring) return;
  isIgnoring = true;
  process.on('unhandledRejection', (reason: unknown) => {
    if (reason instanceof RoundEnded || process.listenerCount('unhandledRejection') > 1) return;
    throw reason;
  });
}
