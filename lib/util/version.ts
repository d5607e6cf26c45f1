/** The version of this package. */
export const VERSION = '0.1.0';

const KEY = Symbol.for('nestjs-mcp:versions');

/** The versions of the package that the process has loaded. All copies share the set. */
export const loadedVersions: Set<string> = ((globalThis as { [KEY]?: Set<string> })[KEY] ??=
  new Set<string>());
loadedVersions.add(VERSION);
