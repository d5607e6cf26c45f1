import type { Tree } from '@angular-devkit/schematics';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Prettier from 'prettier';
import type Typescript from 'typescript';

/** The packages of the application, so that the package itself needs neither TypeScript nor Prettier. */
const requireOfApplication = createRequire(join(process.cwd(), 'package.json'));

/** What the schematics read of the application's `package.json`. */
export interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly type?: string;
  readonly [group: string]: unknown;
}

/** The application's TypeScript. It compiles the application, so it is installed. */
export const loadTypescript = (): typeof Typescript =>
  requireOfApplication('typescript') as typeof Typescript;

/** Whether the application finds a package. */
export function isInstalled(name: string): boolean {
  try {
    requireOfApplication.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** The application's `package.json`; undefined if the tree has none. */
export function manifestOf(tree: Tree): Manifest | undefined {
  return tree.exists('/package.json') ? (tree.readJson('/package.json') as unknown as Manifest) : undefined;
}

/**
 * The extension of relative imports. Only an ES module needs one: a CommonJS application resolves `./search.tool`, and Jest
 * finds no `./search.tool.js` in it.
 */
export const extensionOf = (tree: Tree): '' | '.js' => (manifestOf(tree)?.type === 'module' ? '.js' : '');

/** Writes a file, formatted as the application's Prettier does. A file that was not formatted before stays so. */
export async function write(tree: Tree, path: string, text: string): Promise<void> {
  const before = tree.exists(path) ? tree.readText(path) : undefined;
  if (text === before) return;
  const format = await formatter(path);
  const isFormatted = before === undefined || (await format(before)) === before;
  const content = isFormatted ? await format(text) : text;
  if (before === undefined) tree.create(path, content);
  else tree.overwrite(path, content);
}

async function formatter(path: string): Promise<(text: string) => string | Promise<string>> {
  let prettier: typeof Prettier;
  try {
    prettier = requireOfApplication('prettier') as typeof Prettier;
  } catch {
    return text => text;
  }
  const filepath = join(process.cwd(), path);
  const options = await prettier.resolveConfig(filepath, { editorconfig: true });
  return text => prettier.format(text, { ...options, filepath });
}
