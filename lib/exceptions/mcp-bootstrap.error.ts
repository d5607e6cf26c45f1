/**
 * A mistake in how the application uses this module, found while it starts. The application does not start.
 * @example
 * ```ts
 * await expect(app.init()).rejects.toThrow(McpBootstrapError);
 * ```
 */
export class McpBootstrapError extends Error {
  /**
   * @param where the class and method at fault, as in `CatalogTools.search`
   * @param problem what is wrong and what mends it, in one sentence
   */
  constructor(where: string, problem: string) {
    super(`${where}: ${problem}`);
    this.name = 'McpBootstrapError';
  }
}
