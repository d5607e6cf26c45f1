// Installs the package as it would be published into an empty project, without the network, and loads every entry with
// `require` and with `import`. The main entry and `nestjs-mcp/telemetry` are loaded where no optional peer is installed.
// There, the samples compile as in a project of Nest's command line, which writes declarations: every type that is inferred
// can be named.
// Usage, after a build: node tools/pack-check.mjs [package folder]
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import process from 'node:process';

const root = resolve(process.argv[2] ?? '.');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const {
  name,
  dependencies = {},
  devDependencies = {},
  peerDependencies = {},
  peerDependenciesMeta = {},
} = manifest;
const peers = Object.keys(peerDependencies);
const optionalPeers = peers.filter(peer => peerDependenciesMeta[peer]?.optional);

/** Bytes of all files that browsers may get: two thirds are the packages that show views. */
const MAX_PAGE_SIZE = 420_000;

/** Prints what an entry exports, and under which keys its `Tool`, if it has one, writes metadata. */
const PROBE = `
  const metadata = [];
  if (entry.Tool) {
    class Tools { echo() {} }
    entry.Tool({ description: 'Says it again' })(Tools.prototype, 'echo', Object.getOwnPropertyDescriptor(Tools.prototype, 'echo'));
    for (const target of [Tools, Tools.prototype, Tools.prototype.echo]) metadata.push(...Reflect.getMetadataKeys(target).map(String));
  }
  const exported = Object.keys(entry).filter(key => !['default', '__esModule', 'module.exports'].includes(key)).sort();
  console.log(JSON.stringify({ exported, metadata }));
`;

const temp = mkdtempSync(join(tmpdir(), `${name}-pack-`));
try {
  const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] };
  const packed = execFileSync(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', temp],
    options,
  );
  const [{ filename, files }] = JSON.parse(packed);
  assert.deepEqual(
    files.map(file => file.path).filter(path => /\.spec\.|(^|\/)test\//.test(path)),
    [],
    'The package holds tests',
  );
  const page = files.filter(file => file.path.startsWith('dist/cjs/explorer/page/'));
  const pageSize = page.reduce((sum, { size }) => sum + size, 0);
  assert.ok(
    page.some(file => file.path.endsWith('/main.js')),
    'The package lacks the page of the explorer',
  );
  assert.ok(pageSize < MAX_PAGE_SIZE, `The page of the explorer has ${pageSize} bytes`);
  console.log(`The page of the explorer: ${page.length} files, ${pageSize} bytes`);

  const modules = join(temp, 'node_modules');
  mkdirSync(join(modules, name), { recursive: true });
  execFileSync('tar', ['-xzf', join(temp, filename), '-C', join(modules, name), '--strip-components=1']);
  const link = packageName => {
    const path = join(modules, packageName);
    if (existsSync(path)) return;
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(root, 'node_modules', packageName), path, 'junction');
  };
  const load = (file, code) => {
    writeFileSync(join(temp, file), `${code}\n${PROBE}`);
    return JSON.parse(execFileSync(process.execPath, [file], { ...options, cwd: temp }));
  };
  const check = entry => {
    const specifier = entry.replace(/^\./, name);
    const required = load('probe.cjs', `const entry = require('${specifier}');`);
    const imported = load('probe.mjs', `import * as entry from '${specifier}';`);
    assert.deepEqual(imported, required, `${specifier} is not the same for import and for require`);
    assert.ok(required.exported.length > 0, `${specifier} exports nothing`);
    if (entry === '.') assert.ok(required.metadata.length > 0, `@Tool of ${specifier} writes no metadata`);
    console.log(`${specifier}: ${required.exported.length} exports, by require and by import`);
  };

  const [mainEntry, ...otherEntries] = Object.keys(manifest.exports).filter(
    entry => !entry.endsWith('.json'),
  );
  for (const packageName of [...Object.keys(dependencies), ...peers]) {
    if (!optionalPeers.includes(packageName)) link(packageName);
  }
  const bareEntries = [mainEntry, './telemetry'];
  bareEntries.forEach(check);
  const collection = `./node_modules/${name}/${manifest.schematics}`;
  writeFileSync(
    join(temp, 'schematics.cjs'),
    `const { join, dirname } = require('node:path');
    const { schematics } = require('${collection}');
    for (const { factory, schema } of Object.values(schematics)) {
      const [file, key] = factory.split('#');
      require(join(__dirname, dirname('${collection}'), schema));
      if (typeof require(join(__dirname, dirname('${collection}'), file))[key] !== 'function') throw new Error(factory);
    }
    console.log(Object.keys(schematics).length);`,
  );
  const schematics = execFileSync(process.execPath, ['schematics.cjs'], { ...options, cwd: temp });
  console.log(`${schematics.trim()} schematics load without the packages of Angular and without TypeScript`);

  const bin = join(modules, name, manifest.bin[name]);
  writeFileSync(
    join(temp, 'loaded.cjs'),
    "process.on('exit', () => process.stderr.write(Object.keys(require.cache).length + ' modules'));",
  );
  const run = (...args) => execFileSync(process.execPath, [bin, ...args], { ...options, cwd: temp });
  const help = spawnSync(process.execPath, ['-r', join(temp, 'loaded.cjs'), bin, '--help'], {
    encoding: 'utf8',
  });
  assert.match(help.stdout, /client-config/);
  assert.equal(help.stderr, '3 modules', 'The command line loads commands that are not named');
  for (const [, command] of help.stdout.matchAll(/^ {2}(\S+) /gm))
    assert.match(run(command, '--help'), /^Usage/);
  console.log('The command line runs, without optional packages');
  optionalPeers.forEach(link);
  otherEntries.filter(entry => !bareEntries.includes(entry)).forEach(check);

  for (const [format, load] of [
    ['cjs', 'async path => require(path)'],
    ['esm', 'path => import(path)'],
  ]) {
    const path = `./node_modules/${name}/dist/${format}/explorer/page-files.js`;
    const code = `(${load})('${path}').then(({ readPage }) => readPage()).then(files => console.log(files.size));`;
    const file = format === 'cjs' ? 'page.cjs' : 'page.mjs';
    writeFileSync(join(temp, file), code);
    const found = execFileSync(process.execPath, [file], { ...options, cwd: temp });
    assert.equal(Number(found), page.length, `${path} does not find the page of the explorer`);
  }

  Object.keys(devDependencies).forEach(link);
  cpSync(join(root, 'sample'), join(temp, 'sample'), {
    recursive: true,
    // A project of its own, which its drive installs and builds.
    filter: path => !path.includes('60-order-desk'),
  });
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'));
  Object.assign(compilerOptions, {
    paths: {},
    types: ['node'],
    declaration: true,
    rootDir: '.',
    outDir: 'compiled',
  });
  writeFileSync(join(temp, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['sample'] }));
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [tsc, '-p', temp], { ...options, stdio: 'inherit' });
  console.log('The samples compile, with declarations');
  const surface = run('surface', '--module', 'compiled/sample/00-quickstart/app.module.js');
  assert.match(surface, /^greet\n/m);
  console.log('The command line starts a module');
} finally {
  rmSync(temp, { recursive: true, force: true });
}
