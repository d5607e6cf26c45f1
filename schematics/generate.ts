import type { Rule, SchematicContext, Tree } from '@angular-devkit/schematics';
import { posix } from 'node:path';
import { extensionOf, write } from './application.js';
import { folderOf, namesOf, sourceRootOf, type PlaceOptions } from './names.js';
import { isInModules, namedModule, nearestModule, register } from './modules.js';
import { addPackages } from './packages.js';
import type { Template } from './template.js';

/** Options of all schematics that generate a class, named as those of `@nestjs/schematics`. */
export interface GenerateOptions extends PlaceOptions {
  readonly language?: string;
  readonly spec?: boolean;
  readonly specFileSuffix?: string;
  readonly skipImport?: boolean;
  readonly module?: string;
}

/** A schematic that writes the class of a template with its spec, and lists the class in a module. */
export const generator =
  (template: Template) =>
  (options: GenerateOptions): Rule =>
  async (tree, context) => {
    await generate(template, options, tree, context);
    addPackages(tree, context, {
      dependencies: template.packages ?? [],
      devDependencies: (options.spec ?? true) ? ['@modelcontextprotocol/client'] : [],
    });
  };

/**
 * Writes the class and its spec, and lists the class in a module.
 * @throws Error for a name that names no class, a file that exists, or a module that cannot be edited
 */
export async function generate(
  template: Template,
  options: GenerateOptions,
  tree: Tree,
  context: SchematicContext,
): Promise<void> {
  const { language = 'ts', spec = true, specFileSuffix = 'spec', skipImport = false } = options;
  if (language !== 'ts')
    throw new Error(`The schematics of nestjs-mcp write TypeScript, and the language is "${language}"`);
  const names = namesOf(options.name);
  const folder = folderOf(tree, options);
  const base = `${names.file}.${template.type}`;
  const values = {
    ...names,
    className: names.pascal + template.type[0].toUpperCase() + template.type.slice(1),
    specifier: `./${base}${extensionOf(tree)}`,
  };
  await write(tree, newFile(tree, `${folder}/${base}.ts`), template.source(values));
  if (spec) await write(tree, newFile(tree, `${folder}/${base}.${specFileSuffix}.ts`), template.spec(values));
  if (!skipImport)
    await registerClass(template, options, tree, context, values.className, `${folder}/${base}`);
}

async function registerClass(
  { metadata, modules = [] }: Template,
  options: GenerateOptions,
  tree: Tree,
  context: SchematicContext,
  symbol: string,
  path: string,
): Promise<void> {
  const sourceRoot = sourceRootOf(tree, options);
  const module = options.module
    ? namedModule(tree, sourceRoot, options.module)
    : nearestModule(tree, posix.dirname(path));
  if (module === undefined) {
    context.logger.warn(`There is no module above ${path}.ts: list ${symbol} in the ${metadata} of a module`);
    return;
  }
  const relative = posix.relative(posix.dirname(module), path);
  const from = `${relative.startsWith('.') ? '' : './'}${relative}${extensionOf(tree)}`;
  const missing = modules.filter(one => !isInModules(tree, sourceRoot, one.symbol));
  await register(tree, module, [...missing, { metadata, symbol, from }]);
}

function newFile(tree: Tree, path: string): string {
  if (tree.exists(path)) throw new Error(`${path} exists already: choose another name, or delete the file`);
  return path;
}
