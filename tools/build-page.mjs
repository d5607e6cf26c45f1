// Writes the explorer's page for browsers: its modules without types and comments, those with packages as one file with the
// packages and their licenses, the other files as they are.
// Usage: node tools/build-page.mjs [folder]
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import ts from 'typescript';
import { build } from 'vite';

const source = join(import.meta.dirname, '../lib/explorer/page');
const [target = 'dist/cjs/explorer/page'] = process.argv.slice(2);
const compilerOptions = { target: 'es2022', module: 'esnext', removeComments: true };

/** Modules whose packages are bundled. */
const BUNDLED = ['app-bridge.ts'];

async function bundled(file) {
  const { output } = await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      target: compilerOptions.target,
      rollupOptions: { input: join(source, file), preserveEntrySignatures: 'strict' },
    },
  });
  const [{ code, modules }] = output;
  const packages = Object.keys(modules).map(path => /.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  const notices = [...new Set(packages)].filter(Boolean).map(noticeOf);
  return `/*\n${notices.join('\n')}*/\n${code}`;
}

function noticeOf(folder) {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const license = readdirSync(folder).find(file => /^licen[cs]e/i.test(file));
  return `${name} ${version}\n\n${readFileSync(join(folder, license), 'utf8')}`;
}

function transpiled(file) {
  return ts.transpileModule(readFileSync(join(source, file), 'utf8'), { compilerOptions }).outputText;
}

mkdirSync(target, { recursive: true });
for (const file of readdirSync(source).filter(name => /\.(html|css|ts)$/.test(name))) {
  const text = BUNDLED.includes(file)
    ? await bundled(file)
    : file.endsWith('.ts')
      ? transpiled(file)
      : readFileSync(join(source, file));
  writeFileSync(join(target, file.replace(/\.ts$/, '.js')), text);
}
