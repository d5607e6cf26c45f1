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

export class PolicySource {
  constructor(
    readonly text: string,
    readonly file: string,
  ) {}

  /** @param offset in UTF-16 code units */
  error(rule: string, offset?: number, steps: readonly string[] = []): PolicyError {
    return new PolicyError(rule, { file: this.file, ...this.positionOf(offset), path: pathOf(steps) });
  }

  private positionOf(offset?: number): { line?: number; column?: number } {
    if (offset === undefined) return {};
    const before = this.text.slice(0, offset);
    return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') };
  }
}

export const pathOf = (steps: readonly string[]): string | undefined =>
  steps.length === 0 ? undefined : steps.map(stepOf).join('').replace(/^\./, '');

function stepOf(step: string): string {
  if (/^\d+$/.test(step)) return `[${step}]`;
  return /^[\w/-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}
