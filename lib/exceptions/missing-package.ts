import { McpBootstrapError } from './mcp-bootstrap.error.js';

/**
 * The error for an optional package that cannot be loaded. Its `import()` stands in a `try` block, so that bundlers accept
 * that the package is missing.
 */
export function missingPackage(where: string, name: string, cause: unknown): McpBootstrapError {
  const problem = `the package "${name}" cannot be loaded; install it with \`npm install ${name}\``;
  return Object.assign(new McpBootstrapError(where, problem), { cause });
}
