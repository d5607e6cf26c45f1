import { Tree } from '@angular-devkit/schematics';
import { SchematicTestRunner, UnitTestTree } from '@angular-devkit/schematics/testing';
import { join } from 'node:path';

export const ROOT = join(__dirname, '../..');

/** The root module of an application that `nest new` has made. */
export const ROOT_MODULE = `import { Module } from '@nestjs/common';
import { AppController } from './app.controller';
import { AppService } from './app.service';

@Module({
  imports: [],
  controllers: [AppController],
  providers: [AppService],
})
export class AppModule {}
`;

export const MANIFEST = {
  name: 'shop',
  version: '0.0.1',
  dependencies: { '@nestjs/common': '^12.0.1', zod: '^4.0.0' },
  devDependencies: { '@nestjs/testing': '^12.0.1' },
};

/** The files of an application, by their paths. */
export type Files = Readonly<Record<string, string>>;

export const APPLICATION: Files = {
  '/package.json': `${JSON.stringify(MANIFEST, null, 2)}\n`,
  '/nest-cli.json': '{ "sourceRoot": "src" }\n',
  '/src/app.module.ts': ROOT_MODULE,
};

export const ESM: Files = {
  ...APPLICATION,
  '/package.json': JSON.stringify({ ...MANIFEST, type: 'module' }),
  '/src/app.module.ts': ROOT_MODULE.replaceAll(/(\.\/[\w.]+)/g, '$1.js'),
};

export function treeOf(files: Files): UnitTestTree {
  const tree = new UnitTestTree(Tree.empty());
  for (const [path, text] of Object.entries(files)) tree.create(path, text);
  return tree;
}

export const newRunner = () =>
  new SchematicTestRunner('nestjs-mcp', join(ROOT, 'schematics/collection.json'));

/** Runs one schematic with the options that `nest g` always passes. */
export function run(schematic: string, options: object, files: Files = APPLICATION): Promise<UnitTestTree> {
  const always = {
    collection: 'nestjs-mcp',
    skipImport: false,
    language: 'ts',
    sourceRoot: 'src',
    flat: false,
  };
  return newRunner().runSchematic(schematic, { ...always, spec: true, ...options }, treeOf(files));
}

/** The files that differ from those before. */
export const changes = (tree: UnitTestTree, files: Files = APPLICATION): string[] =>
  tree.files.filter(path => files[path] !== tree.readText(path));
