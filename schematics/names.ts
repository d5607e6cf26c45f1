import type { Tree } from '@angular-devkit/schematics';
import { posix } from 'node:path';

/** Options that say where a class goes. `nest g` passes all of them but `module`. */
export interface PlaceOptions {
  readonly name: string;
  readonly path?: string;
  readonly sourceRoot?: string;
  readonly flat?: boolean;
}

/** The forms of a name. For `orders/find-open`, `file` is `find-open`, `pascal` is `FindOpen` and `camel` is `findOpen`. */
export interface Names {
  readonly file: string;
  readonly pascal: string;
  readonly camel: string;
}

/** `constructor` is no method, and Nest would await a provider with a method `then`. */
const NO_METHODS = ['constructor', 'then'];

/** Like `@nestjs/schematics`: an underscore stays. */
const kebabOf = (text: string) =>
  text
    .trim()
    .replace(/([a-z\d])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/\s/g, '-');

/**
 * The forms of the last part of a name.
 * @throws Error if it is no name of a class and a method
 */
export function namesOf(name: string): Names {
  const file = kebabOf(posix.basename(slashed(name)));
  const pascal = file.replace(/(?:^|[-_.])(.)/g, (_, letter: string) => letter.toUpperCase());
  const camel = pascal.charAt(0).toLowerCase() + pascal.slice(1);
  if (!/^[A-Za-z]\w*$/.test(pascal) || NO_METHODS.includes(camel))
    throw new Error(
      `The name "${name}" cannot name a class and its method: begin it with a letter, and use letters, digits and "-"`,
    );
  return { file, pascal, camel };
}

/**
 * The folder of the generated files, from the root of the tree.
 * @throws Error if the name leads out of the source root
 */
export function folderOf(tree: Tree, options: PlaceOptions): string {
  const { name, path = '', flat = false } = options;
  const { file } = namesOf(name);
  const parent = kebabOf(posix.join(slashed(path), posix.dirname(slashed(name))));
  if (parent === '..' || parent.startsWith('../'))
    throw new Error(`The name "${posix.join(slashed(path), name)}" leads out of the source root`);
  return posix.join('/', sourceRootOf(tree, options), parent, flat ? '' : file);
}

/** Without a file of a project in it, the tree is a folder inside a project, and has no source root. */
export function sourceRootOf(tree: Tree, { sourceRoot = 'src' }: Pick<PlaceOptions, 'sourceRoot'>): string {
  const isProject = ['nest-cli.json', 'nest.json', 'tsconfig.json', 'package.json'].some(file =>
    tree.exists(file),
  );
  return posix.join('/', isProject ? slashed(sourceRoot) : '');
}

const slashed = (path: string) => path.replaceAll('\\', '/');
