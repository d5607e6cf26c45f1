/** Sets `target.stack` to the nearest frames above a function, because a longer stack takes longer to capture. */
export function captureFrames(target: object, count: number, from: (...args: never[]) => unknown): void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = count;
  Error.captureStackTrace(target, from);
  Error.stackTraceLimit = stackTraceLimit;
}
