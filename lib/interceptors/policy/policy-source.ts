import { PolicyError } from './policy.error.js';

/** The text of a policy, and how to say where in it something is wrong. */
export class PolicySource {
  /** @param file what messages call the text */
  constructor(
    readonly text: string,
    readonly file: string,
  ) {}

  /**
   * @param offset UTF-16 code units from the start of the text
   * @param steps the keys and indexes that lead to what is wrong
   */
  error(rule: string, offset?: number, steps: readonly string[] = []): PolicyError {
    return new PolicyError(rule, { file: this.file, ...this.positionOf(offset), path: pathOf(steps) });
  }

  private positionOf(offset?: number): { line?: number; column?: number } {
    if (offset === undefined) return {};
    const before = this.text.slice(0, offset);
    return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') };
  }
}

/** As in `overrides.redact.hooks[0].phase`; undefined where no step leads anywhere. */
export const pathOf = (steps: readonly string[]): string | undefined =>
  steps.length === 0 ? undefined : steps.map(stepOf).join('').replace(/^\./, '');

function stepOf(step: string): string {
  if (/^\d+$/.test(step)) return `[${step}]`;
  return /^[\w/-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}
