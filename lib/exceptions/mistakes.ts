import { numbered } from '../util/numbered.js';
import { McpBootstrapError } from './mcp-bootstrap.error.js';

/** The mistakes that one error lists. */
const listed = new WeakMap<McpBootstrapError, readonly McpBootstrapError[]>();

/** Collects the mistakes of an application, so that one start finds them all. */
export class Mistakes {
  private readonly found: McpBootstrapError[] = [];
  private isClosed = false;

  get count(): number {
    return this.found.length;
  }

  get none(): boolean {
    return this.count === 0;
  }

  add(...mistakes: readonly McpBootstrapError[]): void {
    for (const mistake of mistakes) this.found.push(...(listed.get(mistake) ?? [mistake]));
  }

  /** Keeps a mistake. @throws other errors, and after `close` every error */
  readonly keep = (error: unknown): undefined => {
    if (this.isClosed || !(error instanceof McpBootstrapError)) throw error;
    this.add(error);
  };

  /**
   * Runs a synchronous function, and keeps the mistake that it throws.
   * @returns its result; undefined after a mistake
   * @throws other errors
   */
  attempt<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      return this.keep(error);
    }
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
      this.keep(error);
      return false;
    }
  }

  /** Ends the collection after the start, when nothing reads it any more: modules can also be loaded lazily. */
  close(): void {
    this.isClosed = true;
  }

  /** The error that stops the start; undefined without mistakes. */
  error(): McpBootstrapError | undefined {
    const { found } = this;
    if (found.length < 2) return found[0];
    // The mistake of a module lists those of its options.
    const sentences = found.map(({ message }) => message.replaceAll('\n', '\n   '));
    const error = new McpBootstrapError('The application does not start', numbered(sentences));
    listed.set(error, found);
    return error;
  }
}
