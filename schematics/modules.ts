import type { Tree } from '@angular-devkit/schematics';
import { posix } from 'node:path';
import { write } from './application.js';
import { addToModule, mentions, rootModuleIn, type ModuleEntry } from './module-file.js';

const MODULE = /\.module\.ts$/;

/** The module of a folder, or of the nearest folder above it. */
export function nearestModule(tree: Tree, folder: string): string | undefined {
  for (let directory = tree.getDir(folder); ; directory = directory.parent) {
    const file = directory.subfiles.find(name => MODULE.test(name));
    if (file !== undefined) return posix.join(directory.path, file);
    if (!directory.parent) return undefined;
  }
}

/**
 * The module that the option `module` names: a path from the source root or the project, with or without `.module.ts`.
 * @throws Error if there is none
 */
export function namedModule(tree: Tree, sourceRoot: string, module: string): string {
  const paths = [sourceRoot, '/'].flatMap(root =>
    ['', '.ts', '.module.ts'].map(end => posix.join(root, module + end)),
  );
  const path = paths.find(one => tree.exists(one));
  if (path === undefined)
    throw new Error(`--module=${module}: there is no such file; name a module file below ${sourceRoot}`);
  return path;
}

/**
 * The module that `main.ts` starts.
 * @throws Error if there is none
 */
export function rootModule(tree: Tree, sourceRoot: string): string {
  const main = posix.join(sourceRoot, 'main.ts');
  const specifier = (tree.exists(main) ? rootModuleIn(tree.readText(main)) : undefined) ?? './app.module';
  const path = posix.join(sourceRoot, `${specifier.replace(/\.js$/, '')}.ts`);
  if (!tree.exists(path)) throw new Error(`There is no root module at ${path}: name its file with --module`);
  return path;
}

/** Whether a module of the application names the symbol. */
export function isInModules(tree: Tree, sourceRoot: string, symbol: string): boolean {
  const modules: string[] = [];
  tree.getDir(sourceRoot).visit(path => void (MODULE.test(path) && modules.push(path)));
  return modules.some(path => !path.includes('/node_modules/') && mentions(tree.readText(path), symbol));
}

/** Adds entries to a module. @throws Error if it has no `@Module()` with an object */
export async function register(tree: Tree, module: string, entries: readonly ModuleEntry[]): Promise<void> {
  let text = tree.readText(module);
  for (const entry of entries) {
    const added = addToModule(text, entry);
    if (added === undefined)
      throw new Error(
        `${module} has no @Module({ ... }): add ${entry.symbol} to its ${entry.metadata} yourself, and use --skip-import`,
      );
    text = added;
  }
  await write(tree, module, text);
}
