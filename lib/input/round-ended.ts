/** Known to all copies of the library in one process, such as its CommonJS and its ES module build. */
const LEFT = Symbol.for('nestjs-mcp.may-be-left');

interface Marked {
  /** Reasons whose rejections nobody may be there to take. */
  [LEFT]?: WeakSet<object>;
}

/**
 * Rejects a question whose answer only the client's next round can bring. Handlers do not catch it.
 * @internal
 */
export class RoundEnded extends Error {
  override readonly name = 'RoundEnded';

  constructor() {
    super('The round ends here: the answer comes with the next one');
    mayBeLeft(this);
  }
}

/**
 * Notes what a question is rejected with. A handler may hold a promise that it would have awaited later, and that this has
 * rejected meanwhile: the end of the round, or whatever its client does. That must not end the process, as Node would have
 * it. Whatever else is rejected and not handled does what it would do without this listener.
 */
export function mayBeLeft(reason: unknown): void {
  if (typeof reason !== 'object' || reason === null) return;
  const marked = process as Marked;
  if (!marked[LEFT]) {
    marked[LEFT] = new WeakSet();
    process.on('unhandledRejection', onUnhandled);
  }
  marked[LEFT].add(reason);
}

function onUnhandled(reason: unknown): void {
  if (isMarked(reason) || process.listenerCount('unhandledRejection') > 1 || !dependsOnListeners()) return;
  // Once more, and without this listener: Node does what it is told to.
  process.off('unhandledRejection', onUnhandled);
  void Promise.resolve().then(() => {
    throw reason;
  });
  setImmediate(() => process.on('unhandledRejection', onUnhandled));
}

const isMarked = (reason: unknown): boolean =>
  typeof reason === 'object' && reason !== null && (process as Marked)[LEFT]?.has(reason) === true;

/** Whether Node goes by listeners: with the flag `none`, `warn` or `strict`, it has done what it does, or does it anyway. */
function dependsOnListeners(): boolean {
  const flags = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ');
  const mode = [...flags.matchAll(/--unhandled-rejections[= ]([\w-]+)/g)].at(-1)?.[1] ?? 'throw';
  return mode === 'throw' || mode === 'warn-with-error-code';
}
