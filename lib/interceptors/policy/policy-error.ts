export interface PolicyLocation {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly path?: string;
}

/** A policy that cannot be used. The message is `file:line:column: path: rule`; unknown parts are left out. */
export class PolicyError extends Error {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly path?: string;

  /** @param rule what is wrong and what would be right, such as `must be true or false` */
  constructor(
    readonly rule: string,
    { file, line, column, path }: PolicyLocation,
    options?: ErrorOptions,
  ) {
    const position = line === undefined ? '' : `:${line}:${column ?? 1}`;
    super(`${file}${position}: ${path ? `${path}: ` : ''}${rule}`, options);
    this.name = 'PolicyError';
    this.file = file;
    this.line = line;
    this.column = column;
    this.path = path;
  }
}

export const pathOf = (steps: readonly string[]): string | undefined =>
  steps.length === 0 ? undefined : steps.map(stepOf).join('').replace(/^\./, '');

function stepOf(step: string): string {
  if (/^\d+$/.test(step)) return `[${step}]`;
  return /^[\w/-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}
