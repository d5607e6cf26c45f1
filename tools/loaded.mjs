// Prints the files of this package that `import 'nestjs-mcp'` loads, and those that a started server with one tool loads
// after it, with their lines in `lib/`: `npm run build:cjs && npm run loaded`. With `--files`, each file of the started
// server; with `--json`, only those, as JSON, after a build if it is needed.
import 'reflect-metadata';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPackage } from '../test/suites/conformance/support/build.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist/cjs');
const require = createRequire(import.meta.url);

const loaded = () =>
  Object.keys(require.cache)
    .filter(file => file.startsWith(DIST))
    .map(file => join('lib', relative(DIST, file)).replace(/\.js$/, '.ts'))
    .filter(file => existsSync(join(ROOT, file)));

const linesOf = file => readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1;
const roomOf = file => file.split('/').slice(1, -1).slice(0, 2).join('/') || '(entry)';

const isJson = process.argv.includes('--json');

export function report(files) {
  if (isJson) return;
  const rooms = new Map();
  for (const file of files) rooms.set(roomOf(file), (rooms.get(roomOf(file)) ?? 0) + linesOf(file));
  const sum = [...rooms.values()].reduce((all, lines) => all + lines, 0);
  console.log(`${sum} lines in ${files.length} files`);
  for (const [room, lines] of [...rooms].sort(([, a], [, b]) => b - a)) {
    console.log(`${String(lines).padStart(7)}  ${room}`);
  }
}

if (isJson) buildPackage();
const { McpModule, Tool } = require(join(DIST, 'index.js'));
if (!isJson) console.log("import 'nestjs-mcp':");
report(loaded());

const { Module } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');

class Tools {
  hello() {
    return 'hello';
  }
}
Tool({ description: 'Says hello' })(
  Tools.prototype,
  'hello',
  Object.getOwnPropertyDescriptor(Tools.prototype, 'hello'),
);
Reflect.defineMetadata('design:paramtypes', [], Tools.prototype, 'hello');
class App {}
Module({ imports: [McpModule.forRoot({ name: 'one', version: '1.0.0' })], providers: [Tools] })(App);
const app = await NestFactory.create(App, { logger: ['error', 'warn'] });
await app.listen(0, '127.0.0.1');
if (isJson) console.log(JSON.stringify(Object.fromEntries(loaded().map(file => [file, linesOf(file)]))));
else console.log('\na started server with one tool:');
report(loaded());
if (process.argv.includes('--files')) for (const file of loaded().sort()) console.log(file, linesOf(file));
await app.close();
