/**
 * A mistake in how the application uses this module. It stops the application at start-up.
 * @example
 * ```ts
 * await expect(app.init()).rejects.toThrow(McpBootstrapError);
 * ```
 */
export class McpBootstrapError extends Error {
  /**
   * @param where the class and method at fault, such as `CatalogTools.search`
   * @param problem one sentence that says what is wrong and how to correct it
   */
  constructor(where: string, problem: string) {
    super(`${where}: ${problem}`);
    this.name = 'McpBootstrapError';
  }
}
