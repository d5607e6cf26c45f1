// Writes the explorer's page for browsers: its modules without types and comments, the other files as they are.
// Usage: node tools/build-page.mjs [folder]
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import ts from 'typescript';

const source = join(import.meta.dirname, '../lib/explorer/page');
const [target = 'dist/cjs/explorer/page'] = process.argv.slice(2);
const compilerOptions = { target: 'es2022', module: 'esnext', removeComments: true };

mkdirSync(target, { recursive: true });
for (const file of readdirSync(source).filter(name => /\.(html|css|ts)$/.test(name))) {
  const text = readFileSync(join(source, file), 'utf8');
  const isModule = file.endsWith('.ts');
  writeFileSync(
    join(target, file.replace(/\.ts$/, '.js')),
    isModule ? ts.transpileModule(text, { compilerOptions }).outputText : text,
  );
}
