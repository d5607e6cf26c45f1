/** Progress of a call (specification: basic/utilities/progress). */
export interface Progress {
  /** The progress so far, in any unit; it must grow with every report. */
  progress: number;
  /** The value of `progress` at the end. Default: unknown. */
  total?: number;
  /** A status for the user. */
  message?: string;
}

/** Converts a value to progress: a report stays as it is, a text becomes its message, and other values become JSON. */
export function toProgress(value: unknown, index: number): Progress {
  if (isProgress(value)) return value;
  return { progress: index, message: typeof value === 'string' ? value : JSON.stringify(value) };
}

const isProgress = (value: unknown): value is Progress =>
  typeof value === 'object' && value !== null && typeof (value as Progress).progress === 'number';
