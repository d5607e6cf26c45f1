import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const TOOL = join(__dirname, '../../tools/check-public-types.mjs');

const manifest = {
  main: './dist/index.js',
  exports: {
    '.': { import: { types: './dist/index.d.ts', default: './dist/index.js' } },
    './testing': { types: './dist/testing/index.d.ts', default: './dist/testing/index.js' },
    './package.json': './package.json',
  },
  dependencies: { ajv: '1' },
  peerDependencies: { '@nestjs/common': '1', '@modelcontextprotocol/client': '1', 'class-validator': '1' },
  peerDependenciesMeta: {
    '@modelcontextprotocol/client': { optional: true },
    'class-validator': { optional: true },
  },
};

const sound = {
  'package.json': JSON.stringify(manifest),
  'dist/index.js': '',
  'dist/index.d.ts':
    "export * from './a/b.js';\nimport type { Module } from '@nestjs/common/interfaces/x.js';",
  'dist/a/b.d.ts':
    "/// <reference types=\"node\" />\nimport 'ajv';\nimport { Server } from 'node:http';\nexport * from './c.js';",
  'dist/a/c.d.ts': "export * from './b.js';",
  'dist/testing/index.js': '',
  'dist/testing/index.d.ts':
    "export * from '../a/b.js';\nexport declare const a: import('@modelcontextprotocol/client').Client;",
  'dist/unreachable.d.ts': "import 'class-validator';",
};

describe('check-public-types', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'public-types-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  /** The offences in a package like the sound one, but for `changes`; an undefined file is not there. */
  const check = (changes: Record<string, string | undefined> = {}) => {
    for (const [path, content] of Object.entries({ ...sound, ...changes })) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      if (content !== undefined) writeFileSync(join(folder, path), content);
    }
    const { status, stderr } = spawnSync(process.execPath, [TOOL, folder], { encoding: 'utf8' });
    expect(status).toBe(stderr === '' ? 0 : 1);
    return stderr.split('\n').filter(Boolean);
  };

  it('finds nothing in a sound package', () => {
    expect(check()).toEqual([]);
  });

  it('finds an optional peer behind relative imports', () => {
    expect(check({ 'dist/a/c.d.ts': "import type { A } from 'class-validator/types/index.js';" })).toEqual([
      '".": dist/a/c.d.ts imports the optional peer class-validator',
      '"./testing": dist/a/c.d.ts imports the optional peer class-validator',
    ]);
  });

  it('allows an optional peer only to the entry that is there for it', () => {
    expect(check({ 'dist/index.d.ts': "export * from './testing/index.js';" })).toEqual([
      '".": dist/testing/index.d.ts imports the optional peer @modelcontextprotocol/client',
    ]);
  });

  it('finds a package that is not declared, in whatever form it is imported', () => {
    const declaration = [
      '/// <reference types="a" />',
      "import 'b';",
      "import type { C } from 'c/deep';",
      "export { D } from '@d/d/deep';",
      "export declare const e: import('e').E;",
      "export declare const f: (a: typeof import('f')) => void;",
    ].join('\n');
    const offences = check({ 'dist/index.d.ts': declaration });
    expect(offences.sort()).toEqual(
      ['@d/d', 'a', 'b', 'c', 'e', 'f'].map(
        name => `".": dist/index.d.ts imports ${name}, which is neither a dependency nor a peer`,
      ),
    );
  });

  it('finds a declaration that was not published', () => {
    expect(check({ 'dist/index.d.ts': "export * from './missing.js';" })).toEqual([
      '".": dist/index.d.ts imports ./missing.js, which has no declaration',
    ]);
  });

  it('finds a target of "exports" and of "main" that does not exist', () => {
    expect(check({ 'dist/index.js': undefined, 'dist/testing/index.d.ts': undefined })).toEqual([
      '"main": dist/index.js does not exist',
      '".": dist/index.js does not exist',
      '"./testing": dist/testing/index.d.ts does not exist',
    ]);
  });
});
