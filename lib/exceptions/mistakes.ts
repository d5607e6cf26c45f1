import { numbered } from '../util/numbered.js';
import { McpBootstrapError } from './mcp-bootstrap.error.js';

/** The mistakes that one error lists. */
const listed = new WeakMap<McpBootstrapError, readonly McpBootstrapError[]>();

/** Collects the mistakes of an application, so that one start finds them all. */
export class Mistakes {
  private readonly found: McpBootstrapError[] = [];

  get none(): boolean {
    return this.found.length === 0;
  }

  add(...mistakes: readonly McpBootstrapError[]): void {
    for (const mistake of mistakes) this.found.push(...(listed.get(mistake) ?? [mistake]));
  }

  /**
   * Runs a check, and keeps the mistake that it throws.
   * @returns whether the check passed
   * @throws other errors
   */
  async collect(check: () => unknown): Promise<boolean> {
    try {
      await check();
      return true;
    } catch (error) {
      if (!(error instanceof McpBootstrapError)) throw error;
      this.add(error);
      return false;
    }
  }

  /** The error that stops the start; undefined without mistakes. */
  error(): McpBootstrapError | undefined {
    const { found } = this;
    if (found.length < 2) return found[0];
    const sentences = found.map(({ message }) => message);
    const error = new McpBootstrapError('The application does not start', numbered(sentences));
    listed.set(error, found);
    return error;
  }
}
