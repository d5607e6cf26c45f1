import { str, type Ajv } from 'ajv';
import { linearPattern, PatternError } from './linear-pattern.js';

/** Maximum steps of all patterns in one validation, about a third of a second. */
const MAX_STEPS = 20_000_000;
/** Steps to compile one instruction of a pattern. */
const STEPS_TO_COMPILE = 250;

interface RegExpLike {
  test(text: string): boolean;
  toString(): string;
}

/** Runs the regular expressions of another process's schema in linear time, with a limit for each validation. */
export class ForeignPatterns {
  private left = MAX_STEPS;

  /** @param onSkipped receives the reason if a `pattern` is skipped; without it, such a pattern is an error */
  constructor(private readonly onSkipped?: (reason: string) => void) {}

  begin(): void {
    this.left = MAX_STEPS;
  }

  install(engine: Ajv): void {
    engine.opts.code.regExp = Object.assign((source: string) => this.compile(source), { code: 'new RegExp' });
    // A `pattern` can be skipped, but a key of `patternProperties` cannot.
    engine.removeKeyword('pattern').addKeyword({
      keyword: 'pattern',
      type: 'string',
      schemaType: 'string',
      compile: (source: string) => this.keyword(source),
      error: { message: ({ schemaCode }) => str`must match pattern "${schemaCode}"` },
    });
    // The format of ajv-formats takes quadratic time.
    engine.addFormat('url', text => /^(?:https?|ftp):/i.test(text) && URL.canParse(text));
  }

  private compile(source: string): RegExpLike {
    const pattern = linearPattern(source);
    let isCompiled = false;
    return {
      test: text => {
        // Reading `size` compiles the pattern, so the limit is checked first.
        this.spend(0);
        this.spend(pattern.size * (text.length + 1 + (isCompiled ? 0 : STEPS_TO_COMPILE)));
        isCompiled = true;
        return pattern.test(text);
      },
      // Ajv distinguishes patterns by their text.
      toString: () => source,
    };
  }

  private keyword(source: string): (text: string) => boolean {
    const { onSkipped } = this;
    let pattern: RegExpLike | undefined;
    const skip = (error: unknown): true => {
      if (!onSkipped || !(error instanceof PatternError)) throw error;
      onSkipped(`the pattern ${source.slice(0, 100)} cannot be checked: ${error.message}`);
      if (this.left > 0) pattern = undefined;
      return true;
    };
    try {
      pattern = this.compile(source);
    } catch (error) {
      skip(error);
    }
    return text => {
      // The reason was already reported.
      if (!pattern || (onSkipped && this.left <= 0)) return true;
      try {
        return pattern.test(text);
      } catch (error) {
        return skip(error);
      }
    };
  }

  private spend(steps: number): void {
    this.left -= steps;
    if (this.left <= 0) throw new PatternError('it would take too long');
  }
}
