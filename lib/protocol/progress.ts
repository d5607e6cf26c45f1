/** Progress of a call (specification: basic/utilities/progress). */
export interface Progress {
  /** How far the call is, in units of its own; it must grow with every report. */
  progress: number;
  /** What `progress` comes to at the end. Default: unknown. */
  total?: number;
  /** What is going on, for people. */
  message?: string;
}

/** Any value as progress: a report as it stands, a text as a message, anything else as JSON. */
export function toProgress(value: unknown, index: number): Progress {
  if (isProgress(value)) return value;
  return { progress: index, message: typeof value === 'string' ? value : JSON.stringify(value) };
}

const isProgress = (value: unknown): value is Progress =>
  typeof value === 'object' && value !== null && typeof (value as Progress).progress === 'number';
