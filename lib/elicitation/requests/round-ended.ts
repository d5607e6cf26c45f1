import { branded } from '../../exceptions/branded.js';

/** Shared by all copies of the library in one process, such as its CommonJS and ES builds. */
const LEFT = Symbol.for('nestjs-mcp.may-be-left');

interface Marked {
  [LEFT]?: WeakSet<object>;
}

/** Rejects an input request that only the client's next round can answer. Handlers must not catch it. @internal */
export class RoundEnded extends Error {
  static {
    branded(this, 'RoundEnded');
  }

  override readonly name = 'RoundEnded';

  constructor() {
    const { stackTraceLimit } = Error;
    // A stack takes long to capture, and would only show the event loop.
    Error.stackTraceLimit = 0;
    super('The round ends here: the answer comes with the next one');
    Error.stackTraceLimit = stackTraceLimit;
    mayBeLeft(this);
  }
}

/**
 * Marks a rejection that may stay unhandled, because a handler may hold a promise that it would await later. It must
 * not end the process. Other unhandled rejections keep Node's behaviour.
 */
export function mayBeLeft(reason: unknown): void {
  if (typeof reason !== 'object' || reason === null) return;
  const marked = process as Marked;
  if (!marked[LEFT]) {
    marked[LEFT] = new WeakSet();
    process.on('unhandledRejection', onUnhandled);
  }
  // Known by its class. A `WeakSet` of one error for each round would slow down the garbage collection.
  if (!(reason instanceof RoundEnded)) marked[LEFT].add(reason);
}

function onUnhandled(reason: unknown): void {
  if (isMarked(reason) || process.listenerCount('unhandledRejection') > 1 || !dependsOnListeners()) return;
  // Rejects again without this listener, so that Node applies its own mode.
  process.off('unhandledRejection', onUnhandled);
  void Promise.resolve().then(() => {
    throw reason;
  });
  setImmediate(() => process.on('unhandledRejection', onUnhandled));
}

const isMarked = (reason: unknown): boolean =>
  reason instanceof RoundEnded ||
  (typeof reason === 'object' && reason !== null && (process as Marked)[LEFT]?.has(reason) === true);

/** A listener changes Node's behaviour only in these modes. */
function dependsOnListeners(): boolean {
  const flags = [process.env['NODE_OPTIONS'] ?? '', ...process.execArgv].join(' ');
  const mode = [...flags.matchAll(/--unhandled-rejections[= ]([\w-]+)/g)].at(-1)?.[1] ?? 'throw';
  return mode === 'throw' || mode === 'warn-with-error-code';
}
