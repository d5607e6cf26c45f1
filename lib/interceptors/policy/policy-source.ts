import { PolicyError } from './policy.error.js';

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
