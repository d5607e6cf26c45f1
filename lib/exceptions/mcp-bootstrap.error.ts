import { branded } from './branded.js';

/**
 * A mistake in how the application uses this module. It stops the application at start-up. If there are several
 * mistakes, the message lists them in numbered lines.
 * @example
 * ```ts
 * await expect(app.init()).rejects.toThrow(McpBootstrapError);
 * ```
 */
export class McpBootstrapError extends Error {
  static {
    branded(this, 'McpBootstrapError');
  }

  /**
   * @param where the class and method at fault, such as `CatalogTools.search`
   * @param problem one sentence that says what is wrong and how to correct it
   */
  constructor(where: string, problem: string) {
    super(`${where}: ${problem}`);
    this.name = 'McpBootstrapError';
    // Node prints the line of source that threw an uncaught error, except for an error whose stack was set.
    this.stack = [`${this.name}: ${this.message}`, ...framesOutside(this.stack)].join('\n');
  }
}

/** The frames outside of this package. The mistake is in none of its lines. */
function framesOutside(stack = ''): string[] {
  const [, own] = /\((.+)exceptions[\\/]mcp-bootstrap/.exec(new Error().stack ?? '') ?? [];
  const frames = stack.split('\n').filter(line => /^ +at /.test(line));
  return own === undefined ? frames : frames.filter(line => !line.includes(own));
}
